"""The proof: three accounts of the same ticks and jobs, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from drumbeat.demo.record import HandlerRun

Tick: TypeAlias = tuple[str, datetime]
"""A tick's identity: the name of its schedule, and its instant."""


@dataclass(frozen=True, slots=True)
class TickBalance:
    """Ticks compared with fires, which should be one to one; differences are listed by time."""

    due: int
    fired: int
    """Different ticks that the ledger has as fired."""
    lost: Sequence[Tick]
    """Due, and not fired."""
    not_run: Sequence[Tick]
    """Due and fired, and no handler ever ran for it."""
    doubled: Sequence[Tick]
    """Fired more than once; as often as it is too many."""
    unasked: Sequence[Tick]
    """Fired, and no trigger names it."""


def balance(due: Iterable[Tick], fired: Iterable[Tick], ran: Iterable[Tick]) -> TickBalance:
    """Compare the ticks that were due, the ledger and the runs of handlers."""
    wanted, handled, fires = set(due), set(ran), Counter(fired)
    return TickBalance(
        due=len(wanted),
        fired=len(fires),
        lost=_in_order(wanted - fires.keys()),
        not_run=_in_order((wanted & fires.keys()) - handled),
        doubled=_in_order((fires - Counter(fires.keys())).elements()),
        unasked=_in_order(fires.keys() - wanted),
    )


def _in_order(ticks: Iterable[Tick]) -> list[Tick]:
    return sorted(ticks, key=lambda tick: (tick[1], tick[0]))


@dataclass(frozen=True, slots=True)
class Proof:
    """The result. It holds if nothing is lost and nothing doubled."""

    ticks_due: int
    fired: int
    lost: int
    doubled: int
    jobs_submitted: int
    jobs_completed: int
    jobs_lost: int
    failover_seconds: float | None
    """From the death of the leader to the first tick of the next one; None if nobody died."""
    handler_reruns: int
    """Runs beyond one for each tick and job: a killed worker's work is done again."""

    @property
    def holds(self) -> bool:
        return self.lost == self.doubled == self.jobs_lost == 0


@dataclass(frozen=True, slots=True)
class ComparedAccounts:
    """The three accounts that are compared."""

    due: Mapping[str, Sequence[datetime]]
    """By schedule: the ticks that its trigger names."""
    ledger: Mapping[str, Sequence[datetime]]
    """By schedule: the ticks that the ledger has as fired, each as often as it has it."""
    record: Sequence[HandlerRun]
    """What the handlers wrote down."""
    jobs: int
    completed: int


def prove(accounts: ComparedAccounts, failover_seconds: float | None) -> Proof:
    """Compare the accounts.

    A tick is lost if it was due and the ledger does not have it as fired, or if no handler ran for
    it; it is doubled if the ledger has it twice.
    """
    runs = Counter((entry.what, entry.tick_at) for entry in accounts.record)
    ticks = balance(
        ((name, tick) for name, ticks in accounts.due.items() for tick in ticks),
        ((name, tick) for name, ticks in accounts.ledger.items() for tick in ticks),
        ((what, tick) for what, tick in runs if tick is not None),
    )
    jobs = {(f"job-{number}", None) for number in range(accounts.jobs)}
    return Proof(
        ticks_due=ticks.due,
        fired=ticks.fired,
        lost=len(ticks.lost) + len(ticks.not_run),
        doubled=len(ticks.doubled) + len(ticks.unasked),
        jobs_submitted=accounts.jobs,
        jobs_completed=accounts.completed,
        jobs_lost=sum(1 for job in jobs if not runs[job]) + accounts.jobs - accounts.completed,
        failover_seconds=failover_seconds,
        handler_reruns=sum(count - 1 for count in runs.values()),
    )
