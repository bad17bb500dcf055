"""The proof: three accounts of the same ticks and jobs, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from drumbeat.demo.record import Entry


@dataclass(frozen=True, slots=True)
class Proof:
    """What came out. Nothing lost and nothing doubled, or it failed."""

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
        """Whether every tick fired once, and every job was done."""
        return self.lost == self.doubled == self.jobs_lost == 0


@dataclass(frozen=True, slots=True)
class Accounts:
    """What is compared."""

    due: Mapping[str, Sequence[datetime]]
    """By schedule: the ticks that its trigger names."""
    ledger: Mapping[str, Sequence[datetime]]
    """By schedule: the ticks that the ledger has as fired, each as often as it has it."""
    record: Sequence[Entry]
    """What the handlers wrote down."""
    jobs: int
    completed: int


def prove(accounts: Accounts, failover_seconds: float | None) -> Proof:
    """Compare the accounts.

    A tick is lost if it was due and the ledger does not have it as fired, or if no handler ever
    ran for it; it is doubled if the ledger has it twice.
    """
    runs = Counter((entry.what, entry.tick_at) for entry in accounts.record)
    due = {(name, tick) for name, ticks in accounts.due.items() for tick in ticks}
    fired = Counter((name, tick) for name, ticks in accounts.ledger.items() for tick in ticks)
    lost = sum(1 for tick in due if tick not in fired or not runs[tick])
    jobs = {(f"job-{number}", None) for number in range(accounts.jobs)}
    return Proof(
        ticks_due=len(due),
        fired=len(fired),
        lost=lost,
        doubled=sum(fired.values()) - len(fired) + len(fired.keys() - due),
        jobs_submitted=accounts.jobs,
        jobs_completed=accounts.completed,
        jobs_lost=sum(1 for job in jobs if not runs[job]) + accounts.jobs - accounts.completed,
        failover_seconds=failover_seconds,
        handler_reruns=sum(count - 1 for count in runs.values()),
    )
