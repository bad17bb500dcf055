"""Two apps that share an election by accident are told of it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from drumbeat import Drumbeat
from drumbeat.engine.leading.foreign_leader import LOOK_EVERY, StoreCheck
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.model.events import LeaderForeign
from drumbeat.testing import inside
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fleet, Heard
from tests.engine.support.instances import Instances

OFTEN = LOOK_EVERY * 4


def other_app(instances: Instances) -> Drumbeat:
    """An instance of another app at the same coordinator."""
    app = Drumbeat(
        "memory://",
        coordinator=instances.coordinator,
        runtime=FakeRuntime(instances.clock, seed=9),
        environment={},
        instance_id="billing-1",
    )

    @app.scheduled("* * * * *")
    async def send_invoices() -> None: ...

    instances.apps.append(app)
    return app


async def test_an_instance_whose_schedules_the_leader_does_not_know_says_so_once(
    instances: Instances, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="drumbeat")
    shop = instances.app()
    billing = other_app(instances)
    heard = [Heard(shop), Heard(billing)]
    await instances.start()
    await instances.clock.advance(OFTEN)
    assert instances.leader is shop
    (told,) = heard[1].of(LeaderForeign)
    assert (told.leader, told.schedules) == (shop.id, ("send_invoices",))
    assert heard[0].of(LeaderForeign) == []
    assert "The leader does not know some schedules of this instance" in caplog.text
    await instances.stop()


async def test_instances_of_one_app_are_no_strangers(instances: Instances) -> None:
    heard = [Heard(instances.app()) for _ in range(3)]
    await instances.start()
    await instances.clock.advance(OFTEN)
    assert [each.of(LeaderForeign) for each in heard] == [[], [], []]
    await instances.stop()


async def test_a_leader_that_is_no_node_of_the_store_is_told_of(fleet: Fleet) -> None:
    leader, stranger = fleet.app(), Fleet(clock=fleet.clock)
    bus = Bus(fleet.clock)
    told: list[LeaderForeign] = []
    bus.on(LeaderForeign, told.append)
    context = ServiceContext(FakeRuntime(fleet.clock), bus)
    check = StoreCheck(stranger.app().id, fleet.coordinator, stranger.store.nodes, context)
    ours = StoreCheck(fleet.app().id, fleet.coordinator, fleet.store.nodes, context)
    async with fleet.running(leader):
        for look in range(1, 4):
            await fleet.clock.advance(LOOK_EVERY)
            await check.once()
            await ours.once()
            await bus.flush()
            assert len(told) == (0 if look == 1 else 1)
    assert told[0].leader == leader.id


@pytest.mark.parametrize("coordinator", [True, False], ids=["apart", "the store"])
async def test_only_a_coordinator_apart_from_the_store_is_looked_at(
    tmp_path: Path, coordinator: bool
) -> None:
    address = f"sqlite:///{tmp_path}/leader.db" if coordinator else None
    app = Drumbeat(f"sqlite:///{tmp_path}/store.db", coordinator=address, environment={})
    async with app.running():
        node = inside.node(app)
        assert node is not None
        found = [each for each in node._parts.others if isinstance(each, StoreCheck)]  # pyright: ignore[reportPrivateUsage] - what it is made of
        assert len(found) == int(coordinator)
