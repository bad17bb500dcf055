# pyright: reportPrivateUsage=false
"""What may be wrong with an election: its timings, its labels, its coordinator, its end."""

from __future__ import annotations

import asyncio

import pytest

from drumbeat import Context, Drumbeat, every
from drumbeat.model.errors import Unavailable, UnsafeLease
from drumbeat.model.events import (
    CoordinatorAnswered,
    CoordinatorFailed,
    LabelShared,
    LeadershipGained,
)
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.rules.leadership.lease_trust import Leading
from drumbeat.testing import inside
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fault, Fleet, Heard


def test_a_retry_interval_beyond_the_lease_is_refused_with_the_numbers() -> None:
    surroundings = {"LEADER_ELECTION_LOCK_TTL": "5s", "LEADER_ELECTION_RETRY_INTERVAL": "1m"}
    with pytest.raises(UnsafeLease, match=r"retry_interval 60 s must be at most lease_ttl 5 s"):
        Drumbeat("memory://", environment=surroundings)


def test_the_default_retry_interval_suits_every_lease() -> None:
    Drumbeat("memory://", environment={}, lease_ttl=0.5)


@pytest.mark.parametrize("loss", ["refuse", "hang", "resign"])
async def test_a_job_of_the_leader_is_told_within_a_second_of_the_loss(
    fleet: Fleet, app: Drumbeat, loss: str
) -> None:
    told = asyncio.Event()

    @app.scheduled(every(minutes=1), run_on="leader")
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        told.set()

    async with fleet.running(app):
        await fleet.clock.advance(61)
        if loss == "resign":
            app.leadership.resign()
        else:
            Fault(fleet.coordinator.leases, "renew").always(loss)
        while app.leadership.is_leader:
            await fleet.clock.advance(0.1)
        await fleet.clock.advance(0.5)
        assert told.is_set()


async def test_a_term_that_is_granted_after_a_withdrawal_is_given_back(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    """A node that was asked to drain while it campaigned must not hold what nobody else can."""
    acquire = Fault(fleet.coordinator.leases, "acquire").hang()
    async with fleet.running(app):
        await acquire.hanging.wait()
        node = app._state.node
        assert node is not None
        node.drain_requested.set()
        await fleet.clock.settle()
        acquire.heal()
        await fleet.clock.advance(1)
        assert await app.leadership.leader() is None
        assert heard.of(LeadershipGained) == []


async def test_live_nodes_with_one_label_work_and_are_told_of_once(fleet: Fleet) -> None:
    apps = [fleet.app(instance_id="web") for _ in range(2)]
    heard = Heard(apps[0])
    async with fleet.running(*apps):
        await fleet.clock.advance("10m")
        (shared,) = heard.of(LabelShared)
        assert (shared.node, shared.other) == (apps[0].id, apps[1].id)
        assert sum(app.leadership.is_leader for app in apps) == 1


async def test_a_node_that_was_killed_and_started_again_does_not_share_its_label(
    fleet: Fleet,
) -> None:
    killed, again = (fleet.app(instance_id="web") for _ in range(2))
    heard = Heard(again)
    await killed.start()
    await fleet.clock.advance("1m")
    node, runtime = killed._state.node, killed._state.runtime
    assert node is not None
    assert isinstance(runtime, FakeRuntime)
    await node.crash()
    await runtime.kill()
    async with fleet.running(again):
        await fleet.clock.advance("10m")
        assert heard.of(LabelShared) == []


async def test_nodes_that_nobody_named_are_not_told_of(fleet: Fleet) -> None:
    apps = [
        Drumbeat(
            fleet.store,
            coordinator=fleet.coordinator,
            runtime=FakeRuntime(fleet.clock, seed=seed),
            environment={},
        )
        for seed in range(2)
    ]
    heard = Heard(apps[0])
    async with fleet.running(*apps):
        await fleet.clock.advance("10m")
        assert heard.of(LabelShared) == []


async def test_an_outage_is_counted_from_its_first_failure_and_its_end_is_told(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    acquire = Fault(fleet.coordinator.leases, "acquire").always("before")
    begin = fleet.clock.now()
    async with fleet.running(app):
        await fleet.clock.advance("1m")
        failed = heard.of(CoordinatorFailed)
        assert [event.failures for event in failed] == list(range(1, len(failed) + 1))
        assert {event.since for event in failed} == {begin}
        outage = app.leadership.outage
        assert outage is not None
        assert (outage.since, outage.failures) == (begin, len(failed))
        acquire.heal()
        await fleet.clock.advance(5)
        (answered,) = heard.of(CoordinatorAnswered)
        assert (answered.since, answered.failures) == (begin, len(failed))
        assert app.leadership.outage is None
    assert app.leadership.outage is None


async def test_a_node_starts_without_its_coordinator_and_works_but_does_not_lead(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    reachable = asyncio.Event()

    async def door() -> None:
        if not reachable.is_set():
            raise Unavailable("no route to the lock server")

    fleet.coordinator.open = door  # type: ignore[method-assign]  # as that of a server
    ran: list[str] = []

    @app.scheduled(every(minutes=1))
    async def tick() -> None:
        ran.append("tick")

    @app.task
    async def work() -> None:
        ran.append("job")

    async with fleet.running(app):
        assert isinstance(heard.of(CoordinatorFailed)[0].error, Unavailable)
        await fleet.done(app, await work.submit())
        await fleet.clock.advance("5m")
        assert ran == ["job"]
        with pytest.raises(Unavailable):
            await app.leadership.leader()
        reachable.set()
        await fleet.clock.advance("1m")
        assert "tick" in ran
        assert await fleet.store.fence.read(SCHEDULER) is not None


async def test_a_tool_that_only_asks_the_store_needs_no_coordinator(
    fleet: Fleet, app: Drumbeat
) -> None:
    async def down() -> None:
        raise Unavailable("no route to the lock server")

    fleet.coordinator.open = down  # type: ignore[method-assign]  # as that of a server
    async with app.connected():
        assert await app.jobs.counts() == {}


async def test_an_earlier_term_of_the_same_node_is_not_to_be_trusted(
    fleet: Fleet, app: Drumbeat
) -> None:
    async with fleet.running(app):
        node = inside.node(app)
        assert node is not None
        elector = node._parts.elector
        assert elector is not None
        first = elector.state
        assert isinstance(first, Leading)
        app.leadership.resign()
        await fleet.clock.advance("1m")
        second = elector.state
        assert isinstance(second, Leading)
        assert second.lease.token > first.lease.token
        assert elector.may_act(second.lease)
        assert not elector.may_act(first.lease)
