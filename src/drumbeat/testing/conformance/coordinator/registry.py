"""Cases: the registry of live nodes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import count

from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fleet.node import NodeMetrics
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    let_others_run,
    node,
    repeat_until,
)
from drumbeat.testing.conformance.coordinator.leases import LOOK_AGAIN, TRIES
from drumbeat.testing.conformance.traits import CoordinatorTraits


async def come_and_go(coordinator: Coordinator, traits: CoordinatorTraits) -> None:
    await coordinator.registry.deregister(ANNE)
    await coordinator.registry.register(node(BERT), traits.ttl)
    await coordinator.registry.deregister(BERT)


async def see(coordinator: Coordinator, *, listed: bool) -> None:
    """Check at every hint until Anne is listed, or no longer listed."""
    changes = coordinator.registry.changes()
    while listed != any(each.id == ANNE for each in await coordinator.registry.nodes()):
        await anext(changes)


async def is_listed(coordinator: Coordinator, traits: CoordinatorTraits) -> bool:
    """Register a node several times, in time. False if a registration was late."""
    clock = SystemClock()
    sent_at = clock.elapsed()
    await coordinator.registry.register(node(), traits.ttl)
    for _ in range(3):
        await traits.pass_time(traits.ttl / 2)
        sent_at = clock.elapsed()
        await coordinator.registry.register(node(), traits.ttl)
    listed = list(await coordinator.registry.nodes())
    if clock.elapsed() - sent_at >= traits.ttl.total_seconds():
        return False
    assert listed == [node()]
    return True


class RegistryConformance:
    """A node is listed until its TTL has passed."""

    async def test_registered_nodes_are_listed_by_identity(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        assert list(await coordinator.registry.nodes()) == []
        await coordinator.registry.register(node(BERT), traits.lasting)
        await coordinator.registry.register(node(ANNE), traits.lasting)
        async with traits.another() as other:
            assert list(await other.registry.nodes()) == [node(ANNE), node(BERT)]

    async def test_registering_again_replaces_what_the_node_said(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        await coordinator.registry.register(node(), traits.lasting)
        busy = replace(node(), busy=5, draining=True)
        await coordinator.registry.register(busy, traits.lasting)
        assert list(await coordinator.registry.nodes()) == [busy]

    async def test_what_a_node_has_done_is_listed_with_it(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        idle, metrics = node(), NodeMetrics(9, 7, 1, 5, NOON)
        worked = replace(idle, metrics=metrics, addresses=("127.0.0.1:8080", "[::1]:9090"))
        await coordinator.registry.register(idle, traits.lasting)
        await coordinator.registry.register(worked, traits.lasting)
        async with traits.another() as other:
            assert list(await other.registry.nodes()) == [worked]

    async def test_a_node_is_listed_while_it_registers_again(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        for _ in range(TRIES):
            if await is_listed(coordinator, traits):
                return
        raise AssertionError("this machine is too busy to register in time")

    async def test_a_node_whose_time_has_run_out_is_not_listed(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        await coordinator.registry.register(node(ANNE), traits.ttl)
        await traits.pass_time(traits.expires_within)
        await coordinator.registry.register(node(BERT), traits.lasting)
        left = traits.overdue
        while left > timedelta(0) and len(await coordinator.registry.nodes()) > 1:
            await traits.pass_time(LOOK_AGAIN)
            left -= LOOK_AGAIN
        assert list(await coordinator.registry.nodes()) == [node(BERT)]

    async def test_a_node_can_be_taken_off_the_list(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        await coordinator.registry.register(node(ANNE), traits.lasting)
        await coordinator.registry.register(node(BERT), traits.lasting)
        await coordinator.registry.deregister(ANNE)
        await coordinator.registry.deregister(ANNE)
        assert list(await coordinator.registry.nodes()) == [node(BERT)]

    async def test_watchers_are_woken_by_a_new_node(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        async with (
            asyncio.timeout(traits.patience),
            traits.another() as other,
            asyncio.TaskGroup() as group,
        ):
            watcher = group.create_task(see(other, listed=True))
            await let_others_run()
            busy = count()
            await repeat_until(
                watcher,
                lambda: coordinator.registry.register(
                    replace(node(), busy=next(busy)), traits.lasting
                ),
            )

    async def test_watchers_are_woken_by_a_node_that_leaves(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        await coordinator.registry.register(node(), traits.lasting)
        async with (
            asyncio.timeout(traits.patience),
            traits.another() as other,
            asyncio.TaskGroup() as group,
        ):
            watcher = group.create_task(see(other, listed=False))
            await let_others_run()
            await repeat_until(watcher, lambda: come_and_go(coordinator, traits))
