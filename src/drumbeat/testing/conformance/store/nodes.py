"""Cases: heartbeats, lost attempts and nodes that leave."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from drumbeat.model.fleet.node import Beat, NodeRecord
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Progress,
    Settled,
    Settlement,
    Status,
    Superseded,
)
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    beat,
    finish,
    insert,
    job_of,
    node,
    running,
    settle,
    spec,
    take,
    take_one,
    wanted,
)


class NodeConformance:
    """A node is alive for its lifetime after each heartbeat."""

    async def test_a_beat_lists_the_node(self, store: Store) -> None:
        pulse = await store.nodes.beat(beat(lifetime=15), NOON)
        assert (pulse.as_of, pulse.cancelled, pulse.lost, pulse.drain) == (NOON, (), (), False)
        assert list(await store.nodes.list(after(1))) == [
            NodeRecord(node(), NOON, after(15), alive=True, drain_requested=False)
        ]

    async def test_a_node_is_alive_until_its_lifetime_is_over(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=15), NOON)
        assert [each.alive for each in await store.nodes.list(after(14.9))] == [True]
        assert [each.alive for each in await store.nodes.list(after(15))] == [False]

    async def test_the_next_beat_replaces_the_one_before(self, store: Store) -> None:
        await store.nodes.beat(beat(), NOON)
        busy = replace(node(), busy=3, draining=True)
        await store.nodes.beat(Beat(busy, 20.0), after(5))
        (record,) = await store.nodes.list(after(6))
        assert record == NodeRecord(busy, after(5), after(25), alive=True, drain_requested=False)

    async def test_nodes_are_ordered_by_identity(self, store: Store) -> None:
        await store.nodes.beat(beat(BERT), NOON)
        await store.nodes.beat(beat(ANNE), NOON)
        assert [each.node.id for each in await store.nodes.list(NOON)] == [ANNE, BERT]

    async def test_a_node_that_left_is_not_alive(self, store: Store) -> None:
        await store.nodes.beat(beat(ANNE), NOON)
        await store.nodes.beat(beat(BERT), NOON)
        await store.nodes.leave(ANNE)
        alive = [each.node.id for each in await store.nodes.list(after(1)) if each.alive]
        assert alive == [BERT]
        assert [each.node.id for each in await store.nodes.list(after(1))] == [ANNE, BERT]

    async def test_leaving_is_harmless_for_an_unknown_node(self, store: Store) -> None:
        await store.nodes.leave(NodeId("nobody:1"))
        assert list(await store.nodes.list(NOON)) == []

    async def test_a_node_is_asked_to_drain_at_its_next_beats(self, store: Store) -> None:
        await store.nodes.beat(beat(ANNE), NOON)
        await store.nodes.beat(beat(BERT), NOON)
        nobody = NodeId("nobody:1")
        assert list(await store.nodes.request_drain([BERT, nobody])) == [BERT]
        assert (await store.nodes.beat(beat(BERT), after(1))).drain
        assert (await store.nodes.beat(beat(BERT), after(2))).drain
        assert not (await store.nodes.beat(beat(ANNE), after(1))).drain
        drains = [each.drain_requested for each in await store.nodes.list(after(3))]
        assert drains == [False, True]

    async def test_progress_is_kept_with_the_job(self, store: Store) -> None:
        attempt = await running(store)
        progress = Progress(3, 10, "dritter \N{SNOWMAN}")
        await store.nodes.beat(Beat(node(), 15.0, (attempt.hold,), ((attempt.hold, progress),)))
        assert (await job_of(store, attempt.job_id)).progress == progress

    async def test_progress_of_a_hold_that_is_over_is_ignored(self, store: Store) -> None:
        attempt = await running(store)
        await settle(store, Settlement(attempt.hold, Change.GIVE_BACK))
        again = await take_one(store, by=BERT)
        late = Beat(node(), 15.0, (attempt.hold,), ((attempt.hold, Progress(9)),))
        await store.nodes.beat(late, NOON)
        assert (await job_of(store, again.job_id)).progress is None


class LostConformance:
    """The attempts of a dead node are lost, and its next beat reports them."""

    async def test_attempts_of_a_live_node_are_not_lost(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=15), NOON)
        await running(store)
        assert list(await store.jobs.lost(10, after(14))) == []

    async def test_attempts_of_a_node_whose_beats_are_over_are_lost(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=15), NOON)
        attempt = await running(store)
        assert list(await store.jobs.lost(10, after(15))) == [attempt]

    async def test_attempts_of_a_node_that_never_beat_are_lost(self, store: Store) -> None:
        attempt = await running(store)
        assert list(await store.jobs.lost(10, NOON)) == [attempt]

    async def test_attempts_of_a_node_that_left_are_lost_at_once(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=3600), NOON)
        attempt = await running(store)
        await store.nodes.leave(ANNE)
        assert list(await store.jobs.lost(10, after(1))) == [attempt]

    async def test_only_what_still_runs_is_lost(self, store: Store) -> None:
        await insert(store, spec(), spec(), spec())
        first, second, third = await take(store)
        await finish(store, first.hold)
        await settle(store, Settlement(second.hold, Change.RETRY, delay=timedelta(hours=1)))
        assert list(await store.jobs.lost(10, NOON)) == [third]

    async def test_a_node_can_ask_for_what_it_holds(self, store: Store) -> None:
        await insert(store, spec(), spec(), spec())
        first, second = await take(store, by=ANNE, wish=wanted(limit=2))
        await take(store, by=BERT)
        await finish(store, first.hold)
        assert list(await store.jobs.held(ANNE)) == [second]

    async def test_a_node_that_holds_nothing_gets_an_empty_list(self, store: Store) -> None:
        assert list(await store.jobs.held(ANNE)) == []

    async def test_no_more_than_the_limit_are_told(self, store: Store) -> None:
        await insert(store, *[spec()] * 5)
        await take(store, by=ANNE, wish=wanted(limit=3))
        await take(store, by=BERT)
        assert len(await store.jobs.lost(4, NOON)) == 4

    async def test_listing_lost_attempts_changes_nothing(self, store: Store) -> None:
        attempt = await running(store)
        assert list(await store.jobs.lost(10, NOON)) == list(await store.jobs.lost(10, NOON))
        assert (await job_of(store, attempt.job_id)).status is Status.RUNNING

    async def test_a_beat_in_time_saves_what_nobody_took(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=5), NOON)
        attempt = await running(store)
        assert len(await store.jobs.lost(10, after(6))) == 1
        pulse = await store.nodes.beat(beat(holds=[attempt.hold]), after(7))
        assert pulse.lost == ()
        assert list(await store.jobs.lost(10, after(8))) == []
        await finish(store, attempt.hold, after(9))

    async def test_a_node_that_wakes_up_is_told_what_it_lost(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=5), NOON)
        await insert(store, spec(), spec())
        first, second = await take(store)
        await settle(store, Settlement(first.hold, Change.RETRY), after(6))
        await take_one(store, by=BERT, at=after(7))
        pulse = await store.nodes.beat(beat(holds=[first.hold, second.hold]), after(8))
        assert (pulse.lost, pulse.cancelled) == ((first.hold,), ())

    async def test_what_a_dead_node_held_is_reaped(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=5), NOON)
        await insert(store, spec(), spec())
        first, second = await take(store)
        await finish(store, first.hold)
        verdicts = await store.jobs.reap([_lost(first), _lost(second)], ANNE, after(6))
        assert list(verdicts) == [Superseded(first.hold), Settled(second.hold, Status.PENDING)]
        (record,) = await store.jobs.attempts(second.job_id)
        assert (record.change, record.error) == (Change.RETRY, "lost")

    async def test_what_a_node_held_that_never_beat_is_reaped(self, store: Store) -> None:
        attempt = await running(store)
        verdicts = await store.jobs.reap([_lost(attempt)], ANNE, NOON)
        assert list(verdicts) == [Settled(attempt.hold, Status.PENDING)]

    async def test_nothing_is_reaped_of_a_node_that_lives_again(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=5), NOON)
        attempt = await running(store)
        assert list(await store.jobs.lost(10, after(6))) == [attempt]
        await store.nodes.beat(beat(lifetime=5, holds=[attempt.hold]), after(7))
        verdicts = await store.jobs.reap([_lost(attempt)], ANNE, after(8))
        assert list(verdicts) == [Superseded(attempt.hold)]
        assert (await job_of(store, attempt.job_id)).status is Status.RUNNING
        await finish(store, attempt.hold, after(9))

    async def test_reaping_nothing_does_nothing(self, store: Store) -> None:
        assert list(await store.jobs.reap([], ANNE, NOON)) == []


def _lost(attempt: Attempt) -> Settlement:
    return Settlement(attempt.hold, Change.RETRY, delay=timedelta(hours=1), error="lost")
