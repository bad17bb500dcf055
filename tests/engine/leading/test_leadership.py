# pyright: reportPrivateUsage=false
"""Who leads, and for how long: the elector and the leadership service on fake time."""

from __future__ import annotations

import asyncio
from copy import copy
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from drumbeat import Context, Drumbeat, Status, every
from drumbeat.model.events import (
    CoordinatorFailed,
    LeadershipGained,
    LeadershipLost,
    TickFired,
    TickSkipped,
)
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import NodeId
from drumbeat.rules.leadership.lease_trust import Leading, renewed
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fault, Fleet, Heard, ledger

TTL = 10.0
TRUSTED = TTL * 0.99 - 1.0
"""How long a term of ten seconds is trusted, from when it was asked for."""


def leaders(apps: list[Drumbeat]) -> list[int]:
    return [number for number, app in enumerate(apps) if app.leadership.is_leader]


async def test_a_lone_node_becomes_the_leader_and_claims_an_epoch(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    assert not app.leadership.is_leader
    async with fleet.running(app):
        assert (app.leadership.is_leader, app.leadership.epoch) == (True, 1)
        fence = await fleet.store.fence.read(SCHEDULER)
        assert fence is not None
        assert (fence.epoch, fence.holder) == (1, app.id)
        lease = await app.leadership.leader()
        assert lease is not None
        assert lease.holder == app.id
        await fleet.clock.advance("1h")
        assert app.leadership.epoch == 1
        assert heard.of(LeadershipLost) == []
    assert not app.leadership.is_leader
    assert app.leadership.epoch is None
    assert [event.epoch for event in heard.of(LeadershipGained)] == [1]
    assert [event.epoch for event in heard.of(LeadershipLost)] == [1]


async def test_a_node_without_the_scheduler_role_never_leads(fleet: Fleet, app: Drumbeat) -> None:
    async with fleet.running(app, roles=(Role.WORKER,)):
        await fleet.clock.advance("1m")
        assert not app.leadership.is_leader
        assert await app.leadership.leader() is None


async def test_a_refused_renewal_deposes_at_once_and_releases_nothing(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    async with fleet.running(app):
        release = Fault(fleet.coordinator.leases, "release")
        Fault(fleet.coordinator.leases, "renew").always("refuse")
        await fleet.clock.advance(2.9)
        assert app.leadership.is_leader
        await fleet.clock.advance(0.2)
        assert not app.leadership.is_leader
        assert release.calls == []
        (lost,) = heard.of(LeadershipLost)
        assert lost.reason == "term 1 is over at the coordinator"


@pytest.mark.parametrize("mode", ["hang", "before", "after"])
async def test_a_leader_whose_renewals_are_not_answered_is_deposed_by_its_own_deadline(
    fleet: Fleet, app: Drumbeat, heard: Heard, mode: str
) -> None:
    async with fleet.running(app):
        await fleet.clock.advance(4)  # the last renewal that was answered was sent at second 3
        Fault(fleet.coordinator.leases, "renew").always(mode)
        await fleet.clock.advance(3 + TRUSTED - 4 - 0.01)
        assert app.leadership.is_leader
        assert heard.of(LeadershipLost) == []
        await fleet.clock.advance(0.02)
        assert not app.leadership.is_leader
        assert len(heard.of(LeadershipLost)) == 1
        assert heard.of(CoordinatorFailed)


async def test_a_renewal_that_is_answered_just_after_the_deadline_keeps_nobody_from_leading(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    async with fleet.running(app):
        node = inside.node(app)
        assert node is not None
        elector, leadership = node._parts.elector, node.leadership
        assert elector is not None
        assert leadership is not None
        leadership._wake_up._set = False  # nothing but the deadline is to wake it
        state = elector.state
        assert isinstance(state, Leading)
        sent_at = state.deadline - 0.1
        elector._state = replace(state, renew_at=sent_at + 60)  # as if it waited for an answer
        elector._wake.set()
        await fleet.clock.advance(state.deadline - fleet.clock.elapsed())
        assert [event.epoch for event in heard.of(LeadershipLost)] == [1]
        lease = await fleet.coordinator.leases.renew(state.lease)
        if lease is not None:  # it was not given back, and the answer prolongs it
            elector._state = renewed(state, lease, sent_at, elector.candidacy.timings)
            elector._wake.set()
        await fleet.clock.advance(3 * TTL)
        assert app.leadership.epoch == 2


async def test_trust_is_counted_from_the_request_and_not_from_its_answer(
    fleet: Fleet, app: Drumbeat
) -> None:
    renew = fleet.coordinator.leases.renew
    sent: list[float] = []

    async def slow(lease: Lease) -> Lease | None:
        sent.append(fleet.clock.elapsed())
        if len(sent) > 1:
            return await asyncio.Event().wait()  # type: ignore[return-value]  # for ever
        answer = await renew(lease)
        await fleet.clock.sleep(1.9)
        return answer

    async with fleet.running(app):
        fleet.coordinator.leases.renew = slow  # type: ignore[method-assign]
        await fleet.clock.advance(3 + TRUSTED - 0.01)
        assert sent[0] == 3
        assert app.leadership.is_leader
        await fleet.clock.advance(0.02)
        assert not app.leadership.is_leader


async def test_a_coordinator_that_grants_less_than_asked_is_trusted_for_less(
    fleet: Fleet, app: Drumbeat
) -> None:
    acquire = fleet.coordinator.leases.acquire

    async def stingy(name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        return await acquire(name, candidate, ttl / 2)

    fleet.coordinator.leases.acquire = stingy  # type: ignore[method-assign]
    async with fleet.running(app):
        Fault(fleet.coordinator.leases, "renew").always("hang")
        await fleet.clock.advance(5 * 0.99 - 1 + 0.01)
        assert not app.leadership.is_leader


@pytest.mark.parametrize("mode", ["before", "after", "hang"])
async def test_an_error_while_acquiring_means_not_the_leader(
    fleet: Fleet, app: Drumbeat, heard: Heard, mode: str
) -> None:
    acquire = Fault(fleet.coordinator.leases, "acquire").always(mode)
    async with fleet.running(app):
        await fleet.clock.advance(30)
        assert not app.leadership.is_leader
        assert heard.of(LeadershipGained) == []
        assert heard.of(CoordinatorFailed)
        acquire.heal()
        await fleet.clock.advance(TTL + 3)
        assert app.leadership.is_leader


@pytest.mark.parametrize("seed", range(5))
async def test_resigning_lets_another_lead(seed: int) -> None:
    fleet = Fleet()
    fleet.count = 10 * seed
    apps = [fleet.app() for _ in range(2)]
    async with fleet.running(*apps):
        for leader, other in ((0, 1), (1, 0), (0, 1)):
            assert leaders(apps) == [leader]
            apps[leader].leadership.resign("maintenance")
            await fleet.clock.advance(1)
            assert leaders(apps) == [other]
            await fleet.clock.advance(30)
            assert leaders(apps) == [other]
        assert apps[1].leadership.epoch == 4


async def test_a_lone_node_that_resigns_leads_again_after_a_while(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    async with fleet.running(app):
        app.leadership.resign("maintenance")
        await fleet.clock.advance(1)
        assert not app.leadership.is_leader
        assert heard.of(LeadershipLost)[0].reason == "maintenance"
        await fleet.clock.advance(5)
        assert app.leadership.epoch == 2


async def test_a_leader_that_stops_hands_over_within_a_second(fleet: Fleet) -> None:
    apps = [fleet.app() for _ in range(3)]
    async with fleet.running(*apps):
        await fleet.clock.advance(30)
        assert leaders(apps) == [0]
        await fleet.clock.until(apps[0].stop(0.0))
        await fleet.clock.advance(1)
        assert len(leaders(apps)) == 1


async def test_a_leader_that_dies_is_followed_within_its_ttl_and_three_seconds(
    fleet: Fleet,
) -> None:
    apps = [fleet.app() for _ in range(3)]
    async with fleet.running(*apps):
        await fleet.clock.advance(31.5)
        runtime = apps[0]._state.runtime
        assert isinstance(runtime, FakeRuntime)
        await runtime.kill()
        await fleet.clock.advance(TTL - 2)
        assert leaders(apps[1:]) == []
        await fleet.clock.advance(2 + 3)
        assert len(leaders(apps[1:])) == 1


async def test_a_lease_that_the_store_outranks_does_not_lead(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    """The coordinator forgot its terms: the store has seen higher tokens of the same domain."""
    other = Lease(SCHEDULER, NodeId("other:1"), "test", 3, timedelta(seconds=TTL))
    await fleet.store.fence.claim(other)
    async with fleet.running(app):
        assert not app.leadership.is_leader
        await fleet.clock.advance(30)
        assert app.leadership.epoch == 2
        assert [event.epoch for event in heard.of(LeadershipGained)] == [2]
        assert heard.of(LeadershipLost) == []


async def test_a_claim_whose_answer_got_lost_is_followed_by_a_new_term(
    fleet: Fleet, app: Drumbeat
) -> None:
    Fault(fleet.store.fence, "claim").after()
    async with fleet.running(app):
        assert not app.leadership.is_leader
        await fleet.clock.advance(10)
        assert app.leadership.epoch == 2


@pytest.mark.parametrize("mode", ["before", "hang"])
async def test_a_node_that_cannot_claim_its_term_in_the_store_lets_another_lead(
    fleet: Fleet, mode: str
) -> None:
    healthy = fleet.store
    fleet.store = copy(healthy)
    fleet.store.fence = copy(healthy.fence)  # the first node's own way to the same truth
    apps = [fleet.app()]
    Fault(fleet.store.fence, "claim").always(mode)
    fleet.store = healthy
    apps.append(fleet.app())
    async with fleet.running(*apps):
        await fleet.clock.advance(TTL)
        assert leaders(apps) == [1]


async def test_a_leader_whose_epoch_is_over_writes_nothing_and_says_nothing(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.scheduled(every(minutes=1), misfire="all")
    async def work() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance(59)
        usurper = Lease(SCHEDULER, NodeId("other:1"), "elsewhere", 1, timedelta(seconds=TTL))
        await fleet.store.fence.claim(usurper)
        release = Fault(fleet.coordinator.leases, "release")
        await fleet.clock.advance(1.5)
        assert await ledger(app, "work") == ()
        assert (heard.of(TickFired), heard.of(TickSkipped)) == ([], [])
        (lost,) = heard.of(LeadershipLost)
        assert lost.reason == "epoch 1 is over; epoch 2 has written since"
        assert len(release.calls) == 1
        await fleet.clock.advance(10)
        assert app.leadership.epoch == 3
        (tick,) = await ledger(app, "work")
        assert (tick.epoch, tick.leader) == (3, app.id)
        assert len(heard.of(TickFired)) == 1


@pytest.mark.parametrize("mode", ["before", "hang"])
async def test_a_leader_that_is_cut_off_from_the_store_lets_another_lead(
    fleet: Fleet, mode: str
) -> None:
    """Coordinator and store may be two systems: who cannot fire ticks must not hold the lease."""
    healthy = fleet.store
    fleet.store = copy(healthy)
    fleet.store.schedules = copy(healthy.schedules)  # the first node's own way to the same truth
    apps = [fleet.app()]
    cut = Fault(fleet.store.schedules, "due")
    fleet.store = healthy
    apps.append(fleet.app())

    @apps[1].task
    async def work() -> None: ...

    async with fleet.running(*apps):
        assert leaders(apps) == [0]
        cut.always(mode)
        await apps[1].schedules.put("wake", every(seconds=1), work)
        await fleet.clock.advance(TTL + 4)
        assert leaders(apps) == [1]


@pytest.mark.parametrize("seed", range(4))
async def test_no_two_nodes_may_act_at_once_whatever_the_coordinator_does(seed: int) -> None:
    fleet = Fleet()
    fleet.count = 100 * seed
    apps = [fleet.app() for _ in range(3)]
    chance = FakeRuntime(fleet.clock, seed=seed).random
    faults = [Fault(fleet.coordinator.leases, name) for name in ("acquire", "renew", "release")]
    ears = [Heard(app) for app in apps]
    led: set[int] = set()
    async with fleet.running(*apps):
        for _ in range(400):
            for fault in faults:
                if chance.random() < 0.2:
                    fault.modes[:] = [chance.choice(["before", "after", "hang"])] * 3
            if chance.random() < 0.02:
                chance.choice(apps).leadership.resign()
            await fleet.clock.advance(chance.random())
            at_once = leaders(apps)
            assert len(at_once) <= 1
            led.update(at_once)
        for fault in faults:
            fault.heal()
        await fleet.clock.advance(2 * TTL)
        assert len(leaders(apps)) == 1
    assert len(led) > 1, "leadership never changed hands: the faults did nothing"
    epochs = sorted(event.epoch for ear in ears for event in ear.of(LeadershipGained))
    assert all(early < late for early, late in pairwise(epochs))


async def test_listeners_are_told_of_gain_and_loss(fleet: Fleet, app: Drumbeat) -> None:
    told: list[str] = []

    @app.leadership.on_gained
    async def gained(event: LeadershipGained) -> None:
        told.append(f"gained {event.epoch}")

    @app.leadership.on_lost
    def lost(event: LeadershipLost) -> None:
        told.append(f"lost {event.epoch} {event.reason}")

    async with fleet.running(app):
        assert told == ["gained 1"]
        app.leadership.resign("enough")
        await fleet.clock.settle()
    assert told == ["gained 1", "lost 1 enough"]


async def test_jobs_of_the_leader_run_on_the_leader_only_and_follow_it(
    fleet: Fleet, clock: FakeClock
) -> None:
    apps = [fleet.app(), fleet.app()]
    runs: list[tuple[int, int | None, str | None]] = []
    for number, app in enumerate(apps):

        @app.scheduled(every(minutes=1), run_on="leader")
        async def work(ctx: Context, number: int = number) -> None:
            await ctx.cancelled.wait()
            runs.append((number, ctx.epoch, ctx.cancelled.reason))
            await asyncio.Event().wait()

    async with fleet.running(*apps):
        await clock.advance(61)
        apps[0].leadership.resign("maintenance")
        await clock.advance(1)
        assert leaders(apps) == [1]
        assert runs == [(0, 1, "leadership was lost")]
        # After the grace the job goes back, and runs where leadership is now.
        await clock.advance(10)
        apps[1].leadership.resign("maintenance")
        await clock.advance(1)
        assert runs[1:] == [(1, 2, "leadership was lost")]
        (tick,) = await ledger(apps[0], "work")
        assert tick.job_id is not None
        job = await apps[0].jobs.get(tick.job_id)
        assert job.attempt == 1


async def test_a_job_of_the_leader_that_waits_is_taken_by_whoever_comes_to_lead(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    ran: list[int | None] = []

    @app.scheduled(every(minutes=1), run_on="leader")
    async def work(ctx: Context) -> None:
        ran.append(ctx.epoch)
        if ctx.epoch == 1:
            await asyncio.Event().wait()

    async with fleet.running(app):
        await fleet.clock.advance(61)
        assert ran == [1]
        acquire = Fault(fleet.coordinator.leases, "acquire").always("before")
        app.leadership.resign()
        await fleet.clock.advance(7)  # the job is given back while nobody leads
        assert (await app.jobs.counts())["@leader"] == {Status.QUEUED: 1}
        acquire.heal()
        while not app.leadership.is_leader:
            await fleet.clock.advance(0.1)
        await fleet.clock.settle()
        assert ran == [1, 2]
