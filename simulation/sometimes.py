"""Sometimes: rare states that many seeds together must reach.

A checker that never met the state which it guards against has proved nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import cast

from drumbeat.engine.leading.elector import RESIGNED
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import Outranked
from drumbeat.model.jobs.job import Change, Settled, Status, Superseded
from drumbeat.model.schedules.plan import AlreadyFired, Backfilled, Committed, Raced, SkipReason
from simulation.checkers.reading import Commit, commits, settlements, written
from simulation.history import Believed, History
from simulation.process import GAP

ENOUGH = 300
"""Seeds after which every one of these must have been reached."""
LATE = timedelta(seconds=15)


def _stale_commits(history: History) -> int:
    return sum(isinstance(said.error, StaleEpoch) for said in history.calls("commit"))


def _deposed_while_committing(history: History) -> int:
    believed: dict[str, list[Believed]] = {}
    for each in history.believed:
        believed.setdefault(each.by, []).append(each)
    return sum(
        not any(each.at <= said.at < each.until for each in believed.get(said.by, ()))
        for said in history.calls("commit")
    )


def _dead_mans_writes(history: History) -> int:
    return sum(not said.sender_alive for said in history.calls("commit", "take", "settle", "reap"))


def _two_believers(history: History) -> int:
    return sum(bool(each.others) for each in history.believed)


def _late_completions(history: History) -> int:
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
    return sum(isinstance(said.answer, Outranked) for said in history.calls("claim"))


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
    return sum(told.kind == "AttemptLost" for told in history.told)


def _renewals_refused(history: History) -> int:
    return sum(said.answer is None and said.error is None for said in history.calls("renew"))


def _resigned_by_clock(history: History) -> int:
    return sum(
        told.kind == "LeadershipLost" and "from the store's" in told.text for told in history.told
    )


def _edits_raced(history: History) -> int:
    return sum(
        isinstance(verdict, Raced)
        for said in history.calls("put")
        for verdict in cast("Sequence[object]", said.answer or ())
    )


def _several_fires(history: History) -> int:
    return sum(
        isinstance(commit.verdict, Committed) and len(commit.plan.fires) > 1
        for commit in written(history)
    )


def _told(kind: str, words: str = "") -> Callable[[History], int]:
    return lambda history: sum(told.kind == kind and words in told.text for told in history.told)


def _noted(what: str) -> Callable[[History], int]:
    return lambda history: history.noted[what]


def _answered(call: str, kind: type[object]) -> Callable[[History], int]:
    def count(history: History) -> int:
        return sum(
            isinstance(verdict, kind)
            for said in history.calls(call)
            for verdict in cast("Sequence[object]", said.answer or ())
        )

    return count


def _marks_overtaken(history: History) -> int:
    calls = history.calls("configuration.compare_and_set")
    return sum(said.answer is None and said.error is None for said in calls)


def _lost_after(call: str) -> Callable[[History], int]:
    return lambda history: history.noted[f"the answer to a {call} was lost"]


STATES: dict[str, Callable[[History], int]] = {
    "a commit was refused as stale": _stale_commits,
    "a leader was deposed while its commit was under way": _deposed_while_committing,
    "a request was carried out after its sender had died": _dead_mans_writes,
    "two nodes believed that they lead": _two_believers,
    "the completion of a reaped worker was refused": _late_completions,
    "a tick was raced by an edit or by another leader": _raced,
    "an edit was raced by a tick": _edits_raced,
    "a misfire was caught up": _caught_up,
    "several ticks fired in one write": _several_fires,
    "missed ticks were coalesced": _skipped(SkipReason.COALESCED),
    "missed ticks were skipped": _skipped(SkipReason.MISSED_WINDOW),
    "ticks overlapped": _skipped(SkipReason.OVERLAP),
    "ticks came while paused": _skipped(SkipReason.PAUSED),
    "a tick in the hour left out came during an outage": _gap_after_outage,
    "a claim of the fence was outranked": _outranked,
    "a claim was given back": _given_back,
    "a job was snoozed": _snoozed,
    "a job was put into quarantine": _quarantined,
    "a job was cancelled while it ran": _cancelled_while_running,
    "a job was taken away from a dead node": _reaped,
    "a renewal was refused": _renewals_refused,
    "a leader resigned because of its clock": _resigned_by_clock,
    "the answer to a commit was lost": _lost_after("commit"),
    "the answer to a take was lost": _lost_after("take"),
    "the answer to an insert was lost": _lost_after("insert"),
    "the answer to an acquire was lost": _lost_after("acquire"),
    "the answer to a claim of the fence was lost": _lost_after("claim"),
    "a thread went on after its attempt was over": _told("AttemptOverran"),
    "a lock was lost while somebody worked under it": _noted("a lock was lost"),
    "a lock was held by another": _noted("a lock was held by another"),
    "a node drained because it was asked to": _told("NodeDraining", "draining"),
    "a leader resigned because it was asked to": _told("LeadershipLost", RESIGNED),
    "a past tick was fired by hand": _answered("backfill", Backfilled),
    "a tick that was to be fired by hand had fired": _answered("backfill", AlreadyFired),
    "a change by code waited for ticks that were due": _told("ScheduleChangeWaits"),
    "an instance left a tick to another": _told("TickPassed"),
    "an instance found the mark moved by another": _marks_overtaken,
}

NOT_ON_SQLITE = frozenset(
    {
        "a request was carried out after its sender had died",
        "two nodes believed that they lead",
        "a leader resigned because of its clock",
        "an instance left a tick to another",
        "an instance found the mark moved by another",
    }
)
"""States that need several clocks, a lying coordinator, a server of its own or stores apart."""


def reached(history: History) -> Counter[str]:
    """How often each state was reached in one world."""
    return Counter({name: times for name, count in STATES.items() if (times := count(history))})


__all__ = ["ENOUGH", "STATES", "Commit", "reached"]
