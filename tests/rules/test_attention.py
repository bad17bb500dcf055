"""What needs attention follows from the facts, the most urgent first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from drumbeat.model.fleet.attention import AttentionKind
from drumbeat.model.fleet.lease import TermRecord
from drumbeat.model.fleet.node import Node, NodeRecord, Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import QueueRecord
from drumbeat.model.schedules.plan import Outcome, SkipReason, TickRecord
from drumbeat.rules.attention import FleetFacts, attention_of
from drumbeat.rules.schedules.schedule_state import AllSchedules

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NOTHING = FleetFacts(NOW, "web-1:a", AllSchedules(NOW, (), (), ()), (), (), (), (), ())
SECOND = timedelta(seconds=1)


def kinds(facts: FleetFacts) -> list[AttentionKind]:
    return [each.kind for each in attention_of(facts)]


def skipped(reason: SkipReason, count: int = 1) -> TickRecord:
    return TickRecord(
        "nightly", NOW, Outcome.SKIPPED, NOW, timedelta(0), NOW, count=count, reason=reason
    )


def node(**changes: object) -> NodeRecord:
    alive = Node(NodeId("worker-2:b"), frozenset({Role.WORKER}), "1", NOW, 4, 1, ("default",))
    record = NodeRecord(alive, NOW, NOW + SECOND, alive=True, drain_requested=False)
    return replace(record, **changes)  # type: ignore[arg-type]  # fields of it


def term(epoch: int) -> TermRecord:
    return TermRecord("scheduler", epoch, NodeId("web-1:a"), "d", epoch, NOW - epoch * SECOND)


def test_a_quiet_fleet_needs_none() -> None:
    assert kinds(NOTHING) == []


def test_ticks_that_nobody_wanted_to_be_skipped_are_counted_by_schedule_and_reason() -> None:
    rows = (skipped(SkipReason.MISSED_WINDOW, 3), skipped(SkipReason.MISSED_WINDOW))
    wanted = tuple(map(skipped, (SkipReason.PAUSED, SkipReason.EXCLUDED, SkipReason.OVERRIDDEN)))
    (found,) = attention_of(replace(NOTHING, skipped=rows + wanted))
    assert (found.kind, found.subject, found.count) == (AttentionKind.MISSED, "nightly", 4)


def test_schedules_of_which_our_code_knows_nothing_are_told_apart() -> None:
    every = AllSchedules(NOW, (), (), ("a", "b"), ("e", "d", "c", "f"))
    gone, unknown = attention_of(replace(NOTHING, schedules=every))
    assert (gone.kind, gone.subject) == (AttentionKind.UNDECLARED, "a, b")
    assert (unknown.kind, unknown.subject) == (AttentionKind.UNKNOWN_TASK, "c, d, e, ...")
    assert (gone.count, unknown.count) == (2, 4)


def test_a_node_that_stopped_in_order_is_not_told_and_one_that_died_is() -> None:
    stopped = node(alive=False, expires_at=NOW)
    died = node(alive=False)
    assert kinds(replace(NOTHING, nodes=(stopped,))) == []
    assert kinds(replace(NOTHING, nodes=(died,))) == [AttentionKind.DEAD_NODE]
    later = NOW + timedelta(days=2)
    assert kinds(replace(NOTHING, now=later, nodes=(died,))) == []


def test_a_leader_that_changes_often_is_told() -> None:
    assert kinds(replace(NOTHING, terms=tuple(map(term, range(3))))) == []
    often = replace(NOTHING, terms=tuple(map(term, range(4))))
    assert kinds(often) == [AttentionKind.LEADER_CHANGES]


def test_a_queue_is_old_after_five_minutes_if_somebody_serves_it() -> None:
    def queue(age: timedelta) -> QueueRecord:
        return QueueRecord("default", {Status.QUEUED: 2}, NOW - age)

    served = replace(NOTHING, nodes=(node(),))
    assert kinds(replace(served, queues=(queue(timedelta(minutes=5)),))) == []
    old = replace(served, queues=(queue(timedelta(minutes=6)),))
    assert kinds(old) == [AttentionKind.OLD_QUEUE]
    assert kinds(replace(old, nodes=())) == [AttentionKind.NO_WORKER]


def test_what_does_not_run_comes_first() -> None:
    facts = replace(
        NOTHING,
        nodes=(node(alive=False),),
        queues=(QueueRecord("mail", {Status.QUEUED: 1}, NOW),),
        terms=tuple(map(term, range(5))),
    )
    assert kinds(facts) == [
        AttentionKind.NO_WORKER,
        AttentionKind.DEAD_NODE,
        AttentionKind.LEADER_CHANGES,
    ]
