"""A node is listed at the coordinator for as long as it lives, with what it has done."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat import Drumbeat, Retry, cron
from drumbeat.model.fleet.node import Node, NodeMetrics, Role
from drumbeat.testing import inside
from drumbeat.testing.clock import START
from tests.engine.support.fleet import Fault, Fleet
from tests.engine.support.instances import Instances

LONG = "1h"


async def listed(fleet: Fleet) -> Sequence[Node]:
    return await fleet.coordinator.registry.nodes()


async def test_a_node_registers_and_leaves(fleet: Fleet, app: Drumbeat) -> None:
    async with fleet.running(app):
        (node,) = await listed(fleet)
        assert node.id == app.id
        assert node.roles == {Role.SCHEDULER, Role.WORKER}
        (found,) = await app.nodes()
        assert (found.node, found.registered) == (node, True)
        await fleet.clock.advance(LONG)
        assert [each.id for each in await listed(fleet)] == [app.id]
    assert await listed(fleet) == []


async def test_a_killed_node_is_listed_until_its_time_is_over(fleet: Fleet, app: Drumbeat) -> None:
    await app.start()
    await fleet.clock.settle()
    node = inside.node(app)
    assert node is not None
    await node.crash()
    await fleet.clock.advance("14s")
    assert len(await listed(fleet)) == 1
    await fleet.clock.advance("7s")
    assert await listed(fleet) == []


async def test_a_node_tells_what_it_has_done(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def good() -> None: ...

    @app.task(retry=Retry.linear(max_retries=1, delay=1.0))
    async def bad() -> None:
        raise ValueError

    @app.scheduled(cron("* * * * *"))
    async def beat() -> None: ...

    async with fleet.running(app):
        await good.submit()
        await fleet.done(app, await bad.submit())
        await fleet.clock.advance("10s")
        (node,) = await listed(fleet)
        assert node.metrics == NodeMetrics(
            claimed=3, completed=1, failed=1, fired=0, last_claim_at=node.metrics.last_claim_at
        )
        assert node.metrics.last_claim_at is not None
        assert 1 <= (node.metrics.last_claim_at - START).total_seconds() < 3
        await fleet.clock.advance("2m")
        (found,) = await app.nodes()
        assert found.node.metrics.fired == 2
        assert found.node.metrics.completed == 3


async def test_a_node_is_listed_again_after_the_coordinator_was_emptied(
    fleet: Fleet, app: Drumbeat
) -> None:
    async with fleet.running(app):
        await fleet.coordinator.registry.deregister(app.id)
        assert [found.registered for found in await app.nodes()] == [False]
        await fleet.clock.advance("6s")
        assert [found.registered for found in await app.nodes()] == [True]


async def test_a_coordinator_that_is_away_stops_no_node(fleet: Fleet, app: Drumbeat) -> None:
    register = Fault(fleet.coordinator.registry, "register").always("before")
    Fault(fleet.coordinator.registry, "deregister").always("before")
    async with fleet.running(app):
        await fleet.clock.advance("20s")
        assert len(register.calls) >= 3
        assert [(found.alive, found.registered) for found in await app.nodes()] == [(True, False)]
        register.heal()
        await fleet.clock.advance("6s")
        assert len(await listed(fleet)) == 1


async def test_a_coordinator_that_is_silent_delays_the_list_by_a_second(
    fleet: Fleet, app: Drumbeat
) -> None:
    async with fleet.running(app):
        silent = Fault(fleet.coordinator.registry, "nodes").always("hang")
        before = fleet.clock.elapsed()
        (found,) = await fleet.clock.until(app.nodes())
        assert (found.alive, found.registered) == (True, None)
        assert fleet.clock.elapsed() - before <= 1.5
        silent.heal()


async def test_a_silent_coordinator_delays_a_stop_by_a_second(fleet: Fleet, app: Drumbeat) -> None:
    silent = Fault(fleet.coordinator.registry, "deregister")
    async with fleet.running(app):
        silent.hang()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop(0.0))
        assert silent.calls
        assert fleet.clock.elapsed() - before <= 1.5
    silent.heal()


async def test_a_node_that_drains_says_so_at_once(fleet: Fleet, app: Drumbeat) -> None:
    async with fleet.running(app):
        await app.drain([app.id])
        await fleet.clock.advance("6s")  # it reads the request with its next heartbeat
        (node,) = await listed(fleet)
        assert node.draining


async def test_instances_with_a_store_each_find_each_other(instances: Instances) -> None:
    first, second = instances.app(), instances.app()
    await instances.start()
    found = await first.nodes()
    assert {each.node.id for each in found} == {first.id, second.id}
    assert [each.beat_at is not None for each in found] == [
        each.node.id == first.id for each in found
    ]
    assert all(each.alive and each.registered for each in found)
    assert list(await first.drain([second.id])) == []
    await instances.stop()
