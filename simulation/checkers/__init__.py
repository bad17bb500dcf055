"""Checkers: each promise of Drumbeat, over the history of a simulated world.

Most promises have a watcher, which sees each step as it happens. What can only be said of the end
is a pure function over the whole history, and over what the store holds then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulation.checkers import apart, jobs, leases, ledger, liveness, ticks
from simulation.checkers.stored import Look, WhatWasSaidIsThere
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher, Watcher
from simulation.history import Applied, Believed, Guarded, History, Ran

Checker = Callable[[History], Iterator[Violation]]
Step = Applied | Believed | Ran | Guarded

SERVER_WATCHERS: tuple[type[ServerWatcher], ...] = (
    ticks.EveryTickHasAnAccount,
    ticks.TheCursorOnlyRises,
    ticks.EpochsNeverFall,
    ticks.NoWriteBelowTheFence,
    ticks.NothingFiresEarly,
    ticks.NothingFiresWhilePaused,
    leases.TokensRise,
    leases.LeasesAreLinear,
    jobs.OnlyLegalChanges,
    jobs.CompletedAtMostOnce,
)
WATCHERS: dict[type[Step], tuple[type[Watcher[Any]], ...]] = {
    Believed: (leases.OneBeliever,),
    Ran: (jobs.NoTwoHandlersAtOnce, jobs.NothingStartsWhileDraining),
    Guarded: (leases.OneHolder,),
}
CHECKERS: tuple[Checker, ...] = (
    ledger.one_fire_per_tick,
    ledger.the_hour_left_out,
    ledger.fired_means_a_job,
    ledger.writes_are_whole,
    jobs.no_submission_is_lost,
    jobs.attempts_are_bounded,
    jobs.payloads_are_kept,
    liveness.a_leader_soon,
    liveness.all_due_ticks_are_handled,
    liveness.no_schedule_starves,
    liveness.the_backlog_drains,
    liveness.no_ping_pong,
)
APART: tuple[Checker, ...] = (
    apart.taken_once,
    apart.nothing_fires_early,
    liveness.a_leader_soon,
    apart.taken_at_all,
    liveness.no_ping_pong,
)
"""Of worlds in which each node has a store of its own."""


class Monitor:
    """Shows each step to the watchers that care for it, and keeps what they say."""

    def __init__(self, history: History, look: Look | None = None) -> None:
        watchers = [kind(history) for kind in SERVER_WATCHERS]
        if look is not None:
            watchers.append(WhatWasSaidIsThere(history, look))
        self._by_call: dict[str, list[ServerWatcher]] = {}
        for watcher in watchers:
            for call in watcher.calls:
                self._by_call.setdefault(call, []).append(watcher)
        self._by_kind = {
            kind: [make(history) for make in watchers] for kind, watchers in WATCHERS.items()
        }
        self.broken: list[Violation] = []
        self.checked = 0
        """How often a watcher has looked at a step."""

    def see(self, step: Step) -> None:
        """Something has happened."""
        watchers = self._who_cares_for(step)
        self.checked += len(watchers)
        for watcher in watchers:
            self.broken.extend(watcher.see(step))

    def _who_cares_for(self, step: Step) -> Sequence[Watcher[Any]]:
        if isinstance(step, Applied):
            return self._by_call.get(step.call, ())
        return self._by_kind[type(step)]


def at_the_end(history: History) -> list[Violation]:
    """What the end of a world shows to be broken."""
    checkers = APART if history.apart else CHECKERS
    return [violation for check in checkers for violation in check(history)]


def violations(history: History) -> list[Violation]:
    """Every broken promise, found anew in the whole history, in the order of time."""
    monitor = Monitor(history)
    for steps in (history.applied, history.believed, history.ran, history.guarded):
        for step in steps:
            monitor.see(step)
    return in_order([*monitor.broken, *at_the_end(history)])


def in_order(found: list[Violation]) -> list[Violation]:
    """By time."""
    return sorted(found, key=lambda violation: violation.at)


__all__ = [
    "APART",
    "CHECKERS",
    "SERVER_WATCHERS",
    "WATCHERS",
    "Checker",
    "Monitor",
    "Violation",
    "at_the_end",
    "in_order",
    "violations",
]
