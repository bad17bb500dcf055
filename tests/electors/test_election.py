"""`LeaderElection`: one of many leads, on any coordinator."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from drumbeat import LeaderElection
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.electors import health_gated
from drumbeat.model.errors import ConfigurationError, InvalidInput, Unavailable, UnsafeLease
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime

TTL = 10.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def coordinator(clock: FakeClock) -> MemoryCoordinator:
    return MemoryCoordinator(clock, "test")


def elections(coordinator: MemoryCoordinator, clock: FakeClock, count: int) -> list[LeaderElection]:
    return [
        LeaderElection(
            f"instance-{number}", coordinator, ttl=TTL, runtime=FakeRuntime(clock, seed=number)
        )
        for number in range(1, count + 1)
    ]


async def leaders(candidates: list[LeaderElection]) -> list[str]:
    return [each.instance_id for each in candidates if await each.is_leader()]


async def test_the_first_to_stand_leads_and_the_next_follows_when_it_resigns(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    first, second = elections(coordinator, clock, 2)
    assert not await first.is_leader()
    assert await first.elect()
    assert not await second.elect()
    await clock.advance("1h")
    assert await leaders([first, second]) == ["instance-1"]
    token = first.token
    await first.resign()
    await clock.advance(1)
    assert await leaders([first, second]) == ["instance-2"]
    assert token is not None
    assert (second.token or 0) > token
    assert first.token is None
    await clock.advance("1h")
    assert await leaders([first, second]) == ["instance-2"], "who resigned stands no more"
    assert not await first.elect()
    await second.resign()
    assert await first.wait("1m")
    await first.resign()


async def test_in_memory_the_elections_on_one_clock_are_among_themselves(clock: FakeClock) -> None:
    other_clock = FakeClock()
    first = LeaderElection("a", runtime=FakeRuntime(clock, seed=1))
    second = LeaderElection("b", runtime=FakeRuntime(clock, seed=2))
    elsewhere = LeaderElection("c", runtime=FakeRuntime(other_clock, seed=3))
    async with first, second, elsewhere:
        assert await leaders([first, second, elsewhere]) == ["a", "c"]
        await first.resign()
        await clock.advance(TTL)
        assert await leaders([first, second, elsewhere]) == ["b", "c"]


async def test_stepping_down_lets_another_lead_and_goes_on_standing(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    candidates = elections(coordinator, clock, 2)
    for each in candidates:
        await each.elect()
    for expected in ("instance-2", "instance-1", "instance-2"):
        (leader,) = [each for each in candidates if await each.is_leader()]
        leader.step_down("tired")
        await clock.advance(1)
        assert await leaders(candidates) == [expected]
        await clock.advance(30)
    for each in candidates:
        await each.resign()


async def test_there_is_one_leader_of_each_name(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    async with (
        LeaderElection("a", coordinator, name="mail", runtime=FakeRuntime(clock)) as mail,
        LeaderElection("a", coordinator, name="reports", runtime=FakeRuntime(clock, 1)) as reports,
    ):
        assert await mail.is_leader()
        assert await reports.is_leader()
    assert not await mail.is_leader()


async def test_listeners_hear_of_gain_and_loss_in_order(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    (election,) = elections(coordinator, clock, 1)
    told: list[str] = []

    @election.on_gained
    async def gained(event: LeadershipGained) -> None:
        told.append(f"gained {event.epoch}")

    @election.on_lost
    def lost(event: LeadershipLost) -> None:
        told.append(f"lost {event.epoch} {event.reason} {event.graceful}")

    async with election:
        await clock.settle()
        assert told == ["gained 1"]
        election.step_down("tired")
        await clock.advance(10)
        assert told[1:] == ["lost 1 tired False", "gained 2"]
    assert told[3:] == ["lost 2 resigned True"]


async def test_a_lease_that_cannot_be_renewed_ends_by_our_own_clock(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    (election,) = elections(coordinator, clock, 1)
    lost: list[str] = []

    @election.on_lost
    def note(event: LeadershipLost) -> None:
        lost.append(event.reason)

    async with election:

        async def silent(lease: Lease) -> Lease | None:
            raise Unavailable(f"no answer about {lease.token}")

        coordinator.leases.renew = silent  # type: ignore[method-assign]  # a cut in the line
        await clock.advance(8.8)
        assert await election.is_leader()
        assert election.outage is not None
        await clock.advance(0.2)
        assert not await election.is_leader()
        assert election.token is None
        assert "could not be renewed in time" in lost[0]


async def test_a_coordinator_that_is_down_is_a_no_and_is_tried_again(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    acquire = coordinator.leases.acquire
    down = True

    async def shaky(name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if down:
            raise Unavailable("no route")
        return await acquire(name, candidate, ttl)

    coordinator.leases.acquire = shaky  # type: ignore[method-assign]  # a server that is down
    (election,) = elections(coordinator, clock, 1)
    assert not await election.elect()
    assert "no route" in str(election.outage)
    down = False
    assert await clock.until(election.wait("30s"))
    assert election.outage is None
    await election.resign()


async def test_waiting_ends_in_time(coordinator: MemoryCoordinator, clock: FakeClock) -> None:
    first, second = elections(coordinator, clock, 2)
    await first.elect()
    await second.elect()
    assert not await clock.until(second.wait("5s"))
    await first.resign()
    await second.resign()


async def test_an_unhealthy_leader_lets_another_lead_and_comes_back_as_a_follower(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    first, second = elections(coordinator, clock, 2)
    well = True
    gated = health_gated(first, lambda: well)
    assert await gated.elect()
    await second.elect()
    well = False
    assert not await gated.is_leader()
    await clock.advance(1)
    assert await second.is_leader()
    well = True
    assert not await gated.is_leader()
    await second.resign()
    await clock.advance(3)
    assert await gated.is_leader(), "it stands again"
    await first.resign()


async def test_resigning_twice_or_before_standing_is_harmless(
    coordinator: MemoryCoordinator, clock: FakeClock
) -> None:
    (election,) = elections(coordinator, clock, 1)
    await election.resign()
    assert await election.elect()
    assert await election.elect(), "to stand twice is to stand once"
    await election.resign()
    await election.resign()
    election.step_down("nothing to give up")


async def test_elections_in_one_process_are_among_themselves_and_leave_nothing_behind() -> None:
    async with LeaderElection("one") as one, LeaderElection("two") as two:
        assert sorted([await one.is_leader(), await two.is_leader()]) == [False, True]
    async with LeaderElection("three") as three:
        assert await three.is_leader()


async def test_elections_on_a_file_keep_their_lease_while_the_loop_is_blocked(
    tmp_path: Path,
) -> None:
    address = f"sqlite:///{tmp_path}/leader.db"
    # Long enough for a machine that stands still for some seconds.
    one, two = (LeaderElection(label, address, ttl=10) for label in ("one", "two"))
    async with one, two:
        assert await one.is_leader()
        # A blocked loop renews nothing, a thread does. This is more than a whole lease.
        Event().wait(12)
        assert await one.is_leader()
        assert not await two.is_leader()
        await one.resign()
        async with asyncio.timeout(40):
            assert await two.wait()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("carrier-pigeon://loft", "no coordinator is known for carrier-pigeon://"),
        ("leader.db", "must be an address"),
    ],
)
def test_an_address_that_nobody_knows_is_refused(address: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        LeaderElection("one", address)


@pytest.mark.parametrize("ttl", [0, "0s", -3])
def test_a_lease_that_cannot_work_is_refused(ttl: float | str) -> None:
    with pytest.raises((UnsafeLease, InvalidInput), match=r"ttl must be longer|negative"):
        LeaderElection("one", ttl=ttl)


def test_an_election_needs_names() -> None:
    with pytest.raises(ConfigurationError, match="needs a name"):
        LeaderElection("")
    with pytest.raises(ConfigurationError, match="needs a name"):
        LeaderElection("one", name="")


@pytest.mark.parametrize(("interval", "renewals"), [(None, 10), (2.0, 15), ("1s", 30)])
async def test_the_renewal_interval_is_a_setting(
    coordinator: MemoryCoordinator,
    clock: FakeClock,
    interval: float | str | None,
    renewals: int,
) -> None:
    renew, renewed = coordinator.leases.renew, 0

    async def counting(lease: Lease) -> Lease | None:
        nonlocal renewed
        renewed += 1
        return await renew(lease)

    coordinator.leases.renew = counting  # type: ignore[method-assign]  # to count
    election = LeaderElection(
        "instance-1",
        coordinator,
        ttl=TTL,
        renew_interval=interval,
        runtime=FakeRuntime(clock, seed=1),
    )
    assert await election.elect()
    await clock.advance("30s")
    assert renewals - 1 <= renewed <= renewals
    await election.resign()


def test_a_renewal_interval_above_a_third_of_the_ttl_is_refused() -> None:
    with pytest.raises(UnsafeLease, match=r"must be at most a third of the TTL of 10 s"):
        LeaderElection("instance-1", ttl=10, renew_interval=5)
