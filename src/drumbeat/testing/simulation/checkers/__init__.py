"""Checkers: each promise of Drumbeat as a pure function over the history of a simulated world."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from drumbeat.testing.simulation.checkers import jobs, leases, liveness, ticks
from drumbeat.testing.simulation.checkers.violation import Violation
from drumbeat.testing.simulation.history import History

Checker = Callable[[History], Iterator[Violation]]

CHECKERS: tuple[Checker, ...] = (
    ticks.one_fire_per_tick,
    ticks.no_tick_without_an_account,
    ticks.fired_means_a_job,
    ticks.the_cursor_only_rises,
    ticks.epochs_never_fall,
    ticks.no_write_below_the_fence,
    leases.tokens_rise,
    leases.one_believer,
    ticks.nothing_fires_early,
    ticks.nothing_fires_while_paused,
    jobs.only_legal_changes,
    jobs.completed_at_most_once,
    jobs.no_submission_is_lost,
    jobs.no_two_handlers_at_once,
    jobs.attempts_are_bounded,
    jobs.payloads_are_kept,
    ticks.writes_are_whole,
    leases.leases_are_linear,
    liveness.a_leader_soon,
    liveness.all_due_ticks_are_handled,
    liveness.no_schedule_starves,
    liveness.the_backlog_drains,
    liveness.no_ping_pong,
)


def violations(history: History) -> list[Violation]:
    """Every broken promise, in the order in which they were broken."""
    found = [violation for check in CHECKERS for violation in check(history)]
    return sorted(found, key=lambda violation: violation.at)


__all__ = ["CHECKERS", "Checker", "Violation", "violations"]
