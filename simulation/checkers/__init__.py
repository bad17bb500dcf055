"""Checks each promise of Drumbeat over the history of a simulated world.

Most promises have a watcher, which checks each step as it happens. Promises about the end of a
world are pure functions over the whole history and the final content of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulation.checkers import jobs, leases, ledger, liveness, separate_stores, ticks, witnesses
from simulation.checkers.stored_answers import AnswersAreStored, ReadJobs
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher, Watcher
from simulation.history import Belief, ExecutedRequest, HandlerStep, History, LockUse

Checker = Callable[[History], Iterator[Violation]]
Step = ExecutedRequest | Belief | HandlerStep | LockUse

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
    jobs.EndingsOfAStopAreKept,
    jobs.NothingStartsOnceExpired,
    witnesses.SilentBeforeBuried,
)
WATCHERS: dict[type[Step], tuple[type[Watcher[Any]], ...]] = {
    Belief: (leases.OneBeliever,),
    HandlerStep: (jobs.NoTwoHandlersAtOnce, jobs.NothingStartsWhileDraining),
    LockUse: (leases.OneHolder,),
}
CHECKERS: tuple[Checker, ...] = (
    ledger.one_fire_per_tick,
    ledger.the_skipped_hour,
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
SEPARATE_STORES: tuple[Checker, ...] = (
    separate_stores.taken_once,
    separate_stores.nothing_fires_early,
    liveness.a_leader_soon,
    separate_stores.taken_at_all,
    liveness.no_ping_pong,
)
"""The checkers of worlds in which each node has its own store."""


class Monitor:
    """Passes each step to the watchers of its kind, and collects their violations."""

    def __init__(self, history: History, read_jobs: ReadJobs | None = None) -> None:
        watchers = [kind(history) for kind in SERVER_WATCHERS]
        if read_jobs is not None:
            watchers.append(AnswersAreStored(history, read_jobs))
        self._by_call: dict[str, list[ServerWatcher]] = {}
        for watcher in watchers:
            for call in watcher.calls:
                self._by_call.setdefault(call, []).append(watcher)
        self._by_kind = {
            kind: [make(history) for make in watchers] for kind, watchers in WATCHERS.items()
        }
        self.broken: list[Violation] = []
        self.checked = 0
        """How often a watcher has checked a step."""

    def see(self, step: Step) -> None:
        watchers = self._watchers_of(step)
        self.checked += len(watchers)
        for watcher in watchers:
            self.broken.extend(watcher.see(step))

    def _watchers_of(self, step: Step) -> Sequence[Watcher[Any]]:
        if isinstance(step, ExecutedRequest):
            return self._by_call.get(step.call, ())
        return self._by_kind[type(step)]


def at_the_end(history: History) -> list[Violation]:
    """The violations that only the end of a world shows."""
    checkers = SEPARATE_STORES if history.separate_stores else CHECKERS
    return [violation for check in checkers for violation in check(history)]


def violations(history: History) -> list[Violation]:
    """All violations of a whole history, in the order of time."""
    monitor = Monitor(history)
    for steps in (history.requests, history.beliefs, history.handler_steps, history.lock_uses):
        for step in steps:
            monitor.see(step)
    return by_time([*monitor.broken, *at_the_end(history)])


def by_time(found: list[Violation]) -> list[Violation]:
    return sorted(found, key=lambda violation: violation.at)


__all__ = [
    "CHECKERS",
    "SEPARATE_STORES",
    "SERVER_WATCHERS",
    "WATCHERS",
    "Checker",
    "Monitor",
    "Violation",
    "at_the_end",
    "by_time",
    "violations",
]
