"""A fleet in memory: leaders die, stop, sleep or go wrong, and no tick is lost or doubled."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat import Context, Drumbeat, Retry, Status, Unavailable, every
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import AttemptLost, ClockSkewed, LeadershipGained
from drumbeat.model.ids import label_of
from drumbeat.model.schedules.plan import Outcome, TickRecord
from drumbeat.testing import Cluster, FakeClock

START = datetime(2030, 1, 1, tzinfo=UTC)
TTL = timedelta(seconds=10)
FAILOVER = TTL + timedelta(seconds=3)
MINUTELY = every(minutes=1)


def declare(app: Drumbeat) -> None:
    @app.scheduled(MINUTELY)
    async def beat() -> None: ...


def label(node: Drumbeat | None) -> str | None:
    return None if node is None else node.settings.instance_id


async def assert_no_tick_is_lost_or_doubled(cluster: Cluster) -> Sequence[TickRecord]:
    """The ledger has each minute since the start once, and each has fired one job."""
    rows = await cluster.ticks("beat")
    minutes = int(cluster.clock.elapsed() // 60)
    due = [START + timedelta(minutes=number) for number in range(1, minutes + 1)]
    assert [row.tick_at for row in rows] == due
    assert {row.outcome for row in rows} == {Outcome.FIRED}
    assert len({row.job_id for row in rows}) == len(rows)
    return rows


async def test_exactly_one_of_three_nodes_leads() -> None:
    async with Cluster(declare) as cluster:
        leader = await cluster.wait_for_leader()
        await cluster.advance("5m")
        assert cluster.leader is leader
        assert [node.leadership.is_leader for node in cluster.nodes].count(True) == 1
        assert [label(node) for node in cluster.nodes] == ["node-1", "node-2", "node-3"]
        rows = await assert_no_tick_is_lost_or_doubled(cluster)
        assert len(rows) == 5


async def test_a_follower_takes_over_from_a_leader_that_was_killed() -> None:
    async with Cluster(declare) as cluster:
        killed = await cluster.wait_for_leader()
        epoch = killed.leadership.epoch or 0
        await cluster.advance("90s")
        at = cluster.clock.now()
        await cluster.kill(killed)
        assert cluster.leader is None
        successor = await cluster.wait_for_leader()
        assert TTL - timedelta(seconds=3) <= cluster.clock.now() - at <= FAILOVER
        assert successor is not killed
        assert (successor.leadership.epoch or 0) > epoch
        await cluster.advance("10m")
        rows = await assert_no_tick_is_lost_or_doubled(cluster)
        leaders = [label_of(row.leader) for row in rows if row.leader]
        assert leaders == [label(killed)] + [label(successor)] * 10


async def test_no_tick_is_lost_however_many_leaders_die() -> None:
    async with Cluster(declare, nodes=4) as cluster:
        for _ in range(10):
            leader = await cluster.wait_for_leader()
            await cluster.advance("47s")
            await cluster.kill(leader)
            await cluster.advance("30s")
            await cluster.start(leader)
        await cluster.wait_for_leader()
        await cluster.advance("1m")
        rows = await assert_no_tick_is_lost_or_doubled(cluster)
        epochs = [row.epoch or 0 for row in rows]
        assert epochs == sorted(epochs)
        assert len(set(epochs)) >= 5


async def test_a_graceful_stop_hands_over_within_a_second() -> None:
    async with Cluster(declare) as cluster:
        leader = await cluster.wait_for_leader()
        await cluster.advance("90s")
        at = cluster.clock.now()
        await cluster.stop(leader)
        successor = await cluster.wait_for_leader()
        assert successor is not leader
        assert cluster.clock.now() - at <= timedelta(seconds=1)
        assert len(cluster.running) == 2


async def test_a_stopped_node_starts_again_as_a_new_process() -> None:
    async with Cluster(declare, nodes=1) as cluster:
        (first,) = cluster.nodes
        await cluster.stop(first)
        second = await cluster.start(first)
        assert second is not first
        assert (label(second), second.id != first.id) == (label(first), True)
        assert await cluster.wait_for_leader() is second
        with pytest.raises(ConfigurationError, match="not a node of this cluster"):
            await cluster.kill(first)
        with pytest.raises(ConfigurationError, match="running already"):
            await cluster.start(second)


async def test_a_job_whose_node_was_killed_is_run_by_another() -> None:
    ran: list[tuple[str, int]] = []
    lost: list[AttemptLost] = []

    def declare(app: Drumbeat) -> None:
        app.on(AttemptLost)(lost.append)

        @app.task(retry=Retry.linear(max_retries=3, delay=1))
        async def work(ctx: Context) -> None:
            ran.append((app.settings.instance_id, ctx.number))
            if len(ran) == 1:
                await cluster.clock.sleep(3600)

    cluster = Cluster(declare)
    async with cluster:
        await cluster.wait_for_leader()
        job = await cluster.client.jobs.submit("work")
        await cluster.clock.settle()
        ((holder, _),) = ran
        await cluster.kill(next(node for node in cluster.nodes if label(node) == holder))
        await cluster.advance("1m")
        job = await cluster.client.jobs.get(job.id)
        assert (job.status, job.attempt) == (Status.COMPLETED, 2)
        assert ran[1][0] != holder
        assert len(lost) == 1


async def test_a_job_that_kills_every_node_is_put_aside() -> None:
    def declare(app: Drumbeat) -> None:
        @app.task(retry=Retry.linear(max_retries=1, delay=1))
        async def deadly() -> None:
            holders.append(app)
            await cluster.clock.sleep(3600)

    holders: list[Drumbeat] = []
    cluster = Cluster(declare)
    async with cluster:
        job = await cluster.client.jobs.submit("deadly")
        for attempt in (1, 2):
            await cluster.advance("1m")
            assert len(holders) == attempt
            await cluster.kill(holders[-1])
        await cluster.advance("1m")
        job = await cluster.client.jobs.get(job.id)
        assert job.status is Status.FAILED
        assert "quarantined" in str(job.error)


async def test_a_leader_that_sleeps_is_replaced_and_stays_replaced_when_it_wakes() -> None:
    async with Cluster(declare) as cluster:
        sleeper = await cluster.wait_for_leader()
        await cluster.advance("90s")
        await cluster.freeze(sleeper)
        await cluster.advance("5m")
        successor = cluster.leader
        assert successor is not None
        assert successor is not sleeper
        await cluster.thaw(sleeper)
        await cluster.advance("5m")
        assert cluster.leader is successor
        await assert_no_tick_is_lost_or_doubled(cluster)


async def test_a_leader_that_sleeps_right_before_its_write_can_change_nothing() -> None:
    async with Cluster(declare) as cluster:
        sleeper = await cluster.wait_for_leader()
        await cluster.freeze(sleeper, before="commit")
        await cluster.advance("61s")
        assert await cluster.ticks("beat") == []
        await cluster.advance("30s")
        (before,) = await cluster.ticks("beat")
        assert before.leader != sleeper.id
        await cluster.thaw(sleeper)
        assert await cluster.ticks("beat") == [before]
        await cluster.advance("5m")
        await assert_no_tick_is_lost_or_doubled(cluster)


async def test_a_frozen_worker_cannot_complete_the_job_that_another_has_run_since() -> None:
    done: list[str] = []

    def declare(app: Drumbeat) -> None:
        @app.task(retry=Retry.linear(max_retries=3, delay=1))
        async def work() -> str:
            await cluster.clock.sleep(5)
            done.append(app.settings.instance_id)
            return app.settings.instance_id

    cluster = Cluster(declare)
    async with cluster:
        await cluster.wait_for_leader()
        job = await cluster.client.jobs.submit("work")
        await cluster.advance(1)
        holder = (await cluster.client.jobs.get(job.id)).node
        frozen = next(node for node in cluster.nodes if node.id == holder)
        await cluster.freeze(frozen)
        await cluster.advance("2m")
        after = await cluster.client.jobs.get(job.id)
        await cluster.thaw(frozen)
        await cluster.advance("1m")
        assert await cluster.client.jobs.get(job.id) == after
        assert after.status is Status.COMPLETED
        assert done[0] == label(frozen)
        assert done[1] != label(frozen)


async def test_no_alarm_rings_in_a_frozen_node_until_it_thaws() -> None:
    ended: list[float] = []

    def declare(app: Drumbeat) -> None:
        @app.task(timeout=5, retry=Retry.never())
        async def hang() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(cluster.clock.elapsed())

    cluster = Cluster(declare, nodes=1)
    async with cluster:
        (node,) = cluster.nodes
        await cluster.client.jobs.submit("hang")
        await cluster.freeze(node)
        await cluster.advance("10s")
        assert ended == []
        with pytest.raises(ConfigurationError, match="node-1 is frozen"):
            await cluster.stop(node)
        await cluster.thaw(node)
        assert ended == [10]


async def test_a_leader_with_a_wrong_clock_resigns_and_fires_nothing_early() -> None:
    skews: list[ClockSkewed] = []

    def declare_and_listen(app: Drumbeat) -> None:
        declare(app)
        app.on(ClockSkewed)(skews.append)

    async with Cluster(declare_and_listen) as cluster:
        leader = await cluster.wait_for_leader()
        cluster.skew(leader, 30)
        await cluster.advance("5m")
        assert [skewed.skew for skewed in skews] == [timedelta(seconds=30)]
        assert cluster.leader is not leader
        rows = await assert_no_tick_is_lost_or_doubled(cluster)
        assert all(row.recorded_at >= row.tick_at for row in rows)


async def test_nothing_that_a_killed_node_still_does_reaches_the_store() -> None:
    refused: list[Exception] = []

    def declare(app: Drumbeat) -> None:
        @app.task
        async def work() -> None:
            try:
                await cluster.clock.sleep(3600)
            finally:
                try:
                    await app.jobs.submit("work")
                except Unavailable as error:
                    refused.append(error)

    cluster = Cluster(declare, nodes=1)
    async with cluster:
        await cluster.client.jobs.submit("work")
        await cluster.advance(1)
        await cluster.kill(cluster.nodes[0])
        assert len(refused) == 1
        assert len((await cluster.client.jobs.list()).items) == 1


async def test_two_runs_with_one_seed_are_the_same() -> None:
    async def gains(seed: int) -> list[tuple[datetime, str]]:
        gained: list[tuple[datetime, str]] = []
        clock = FakeClock()

        def declare(app: Drumbeat) -> None:
            @app.on(LeadershipGained)
            def note(event: LeadershipGained) -> None:
                gained.append((clock.now(), event.node))

        async with Cluster(declare, clock=clock, seed=seed) as cluster:
            for _ in range(2):
                await cluster.kill(await cluster.wait_for_leader())
                await cluster.advance("20s")
        return gained

    assert await gains(7) == await gains(7)
    assert await gains(7) != await gains(8)


async def test_settings_reach_every_node() -> None:
    async with Cluster(declare, lease_ttl="3s") as cluster:
        leader = await cluster.wait_for_leader()
        at = cluster.clock.now()
        await cluster.kill(leader)
        await cluster.wait_for_leader()
        assert cluster.clock.now() - at <= timedelta(seconds=6)
