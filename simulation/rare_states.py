"""Rare states that many seeds together have to reach.

A checker proves nothing if its dangerous state never occurred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import cast

from drumbeat.engine.leading.candidacy import RESIGNED
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import Outranked
from drumbeat.model.jobs.job import Change, Settled, Status, Superseded
from drumbeat.model.schedules.plan import AlreadyFired, Backfilled, Committed, Raced, SkipReason
from simulation.checkers.history_queries import Commit, commits, settlements, written
from simulation.history import Belief, History
from simulation.process import GAP

ENOUGH_SEEDS = 300
"""The number of seeds that together have to reach every state."""
LATE = timedelta(seconds=15)


def _stale_commits(history: History) -> int:
    return sum(isinstance(request.error, StaleEpoch) for request in history.calls("commit"))


def _deposed_while_committing(history: History) -> int:
    believed: dict[str, list[Belief]] = {}
    for each in history.beliefs:
        believed.setdefault(each.by, []).append(each)
    return sum(
        not any(each.at <= request.at < each.until for each in believed.get(request.by, ()))
        for request in history.calls("commit")
    )


def _requests_of_the_dead(history: History) -> int:
    return sum(
        not request.sender_alive for request in history.calls("commit", "take", "settle", "reap")
    )


def _two_believers(history: History) -> int:
    return sum(bool(each.others) for each in history.beliefs)


def _rejected_completions(history: History) -> int:
    return sum(
        isinstance(verdict, Superseded) and settlement.change is Change.COMPLETE
        for _, settlement, verdict in settlements(history)
    )


def _raced(history: History) -> int:
    return sum(isinstance(commit.verdict, Raced) for commit in commits(history))


def _caught_up(history: History) -> int:
    return sum(
        commit.plan.as_of - fire.tick_at > LATE
        for commit in written(history)
        for fire in commit.plan.fires
    )


def _skipped(*reasons: SkipReason) -> Callable[[History], int]:
    def count(history: History) -> int:
        return sum(
            skip.reason in reasons for commit in written(history) for skip in commit.plan.skips
        )

    return count


def _gap_after_outage(history: History) -> int:
    return sum(
        commit.plan.name == GAP and commit.plan.as_of - fire.tick_at > timedelta(seconds=1)
        for commit in written(history)
        for fire in commit.plan.fires
    )


def _outranked(history: History) -> int:
    return sum(isinstance(request.answer, Outranked) for request in history.calls("claim"))


def _given_back(history: History) -> int:
    return _changed(history, Change.GIVE_BACK)


def _snoozed(history: History) -> int:
    return _changed(history, Change.SNOOZE)


def _changed(history: History, change: Change) -> int:
    return sum(
        settlement.change is change and isinstance(verdict, Settled)
        for _, settlement, verdict in settlements(history)
    )


def _quarantined(history: History) -> int:
    return sum(
        job.status is Status.FAILED and "quarantined" in (job.error or "")
        for job in history.dump.jobs
    )


def _cancelled_while_running(history: History) -> int:
    return sum(job.status is Status.CANCELLED and job.fence > 0 for job in history.dump.jobs)


def _reaped(history: History) -> int:
    return sum(entry.kind == "AttemptLost" for entry in history.log)


def _renewals_refused(history: History) -> int:
    return sum(
        request.answer is None and request.error is None for request in history.calls("renew")
    )


def _resigned_by_clock(history: History) -> int:
    return sum(
        entry.kind == "LeadershipLost" and "from the store's" in entry.text for entry in history.log
    )


def _edits_raced(history: History) -> int:
    return sum(
        isinstance(verdict, Raced)
        for request in history.calls("put")
        for verdict in cast("Sequence[object]", request.answer or ())
    )


def _several_fires(history: History) -> int:
    return sum(
        isinstance(commit.verdict, Committed) and len(commit.plan.fires) > 1
        for commit in written(history)
    )


def _logged(kind: str, words: str = "") -> Callable[[History], int]:
    return lambda history: sum(entry.kind == kind and words in entry.text for entry in history.log)


def _ended(how: str) -> Callable[[History], int]:
    return lambda history: sum(step.what.startswith(how) for step in history.handler_steps)


def _noted(what: str) -> Callable[[History], int]:
    return lambda history: history.rare_events[what]


def _answered(call: str, kind: type[object]) -> Callable[[History], int]:
    def count(history: History) -> int:
        return sum(
            isinstance(verdict, kind)
            for request in history.calls(call)
            for verdict in cast("Sequence[object]", request.answer or ())
        )

    return count


def _shared_cursor_raced(history: History) -> int:
    calls = history.calls("configuration.compare_and_set")
    return sum(request.answer is None and request.error is None for request in calls)


def _lost_after(call: str) -> Callable[[History], int]:
    return lambda history: history.rare_events[f"the answer to a {call} was lost"]


STATES: dict[str, Callable[[History], int]] = {
    "a commit was rejected as stale": _stale_commits,
    "a leader was deposed while its commit was in flight": _deposed_while_committing,
    "a request was executed after its sender had died": _requests_of_the_dead,
    "two nodes believed that they lead": _two_believers,
    "the late completion of a reaped worker was rejected": _rejected_completions,
    "a tick was raced by an edit or by another leader": _raced,
    "an edit was raced by a tick": _edits_raced,
    "a misfire was caught up": _caught_up,
    "several ticks fired in one write": _several_fires,
    "missed ticks were coalesced": _skipped(SkipReason.COALESCED),
    "missed ticks were skipped": _skipped(SkipReason.MISSED_WINDOW),
    "ticks overlapped": _skipped(SkipReason.OVERLAP),
    "ticks came while paused": _skipped(SkipReason.PAUSED),
    "a tick of the hour skipped by summer time came during an outage": _gap_after_outage,
    "a claim of the fence was outranked": _outranked,
    "a claim was given back": _given_back,
    "a job was snoozed": _snoozed,
    "a job was quarantined": _quarantined,
    "a job was cancelled while it ran": _cancelled_while_running,
    "a job was taken away from a dead node": _reaped,
    "a renewal was rejected": _renewals_refused,
    "a leader resigned because of its clock": _resigned_by_clock,
    "the answer to a commit was lost": _lost_after("commit"),
    "the answer to a take was lost": _lost_after("take"),
    "the answer to an insert was lost": _lost_after("insert"),
    "the answer to an acquire was lost": _lost_after("acquire"),
    "the answer to a claim of the fence was lost": _lost_after("claim"),
    "a thread continued after its attempt was over": _logged("AttemptOverran"),
    "a lock was lost while its holder worked under it": _noted("a lock was lost"),
    "a lock was held by another": _noted("a lock was held by another"),
    "a node drained on request": _logged("NodeDraining", "draining"),
    "a handler gave up because its node stopped": _ended("gave up"),
    "a handler had finished although its node stopped": _ended("finished"),
    "a leader resigned on request": _logged("LeadershipLost", RESIGNED),
    "a past tick was fired by hand": _answered("backfill", Backfilled),
    "a backfill found a tick that had already fired": _answered("backfill", AlreadyFired),
    "a change by code waited for due ticks": _logged("ScheduleChangeWaits"),
    "a ticket was lost": _noted("a ticket was lost"),
    "a ticket came twice": _noted("a ticket came twice"),
    "a ticket was reclaimed": _noted("a ticket was reclaimed"),
    "a dead leader was evicted": _logged("LeaderEvicted"),
    "a leader stopped since its witness was lost": _logged("LeadershipLost", "its witness"),
    "a node was found dead before its heartbeats were over": _logged("NodeVanished"),
    "a node lost its witness": _logged("WitnessLost"),
    "an instance left a tick to another": _logged("TickPassed"),
    "an instance found the shared cursor advanced by another": _shared_cursor_raced,
}

NOT_ON_SQLITE = frozenset(
    {
        "a request was executed after its sender had died",
        "two nodes believed that they lead",
        "a leader resigned because of its clock",
        "a ticket was lost",
        "a ticket came twice",
        "a ticket was reclaimed",
        "an instance left a tick to another",
        "an instance found the shared cursor advanced by another",
    }
)
"""States that need several clocks, a lying coordinator, a remote server or separate stores."""


def reached(history: History) -> Counter[str]:
    """How often each state was reached in one world."""
    return Counter({name: times for name, count in STATES.items() if (times := count(history))})


__all__ = ["ENOUGH_SEEDS", "STATES", "Commit", "reached"]
