"""Cases: witnesses, which show at once that the process of a node has ended.

They are no part of `StoreConformance`, since a store may have none.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.model.ids import NodeId
from drumbeat.ports.store import Store
from drumbeat.ports.witness import Witness, Witnesses
from drumbeat.testing.conformance.builders import ANNE, BERT, NOON, after, beat, running
from drumbeat.testing.conformance.traits import StoreTraits

SEVEN = 7
EIGHT = 8
AGAIN = 0.02


def witnesses_of(store: Store) -> Witnesses:
    assert store.witnesses is not None, "this store has no witnesses"
    return store.witnesses


def session(store: Store) -> Witness:
    return witnesses_of(store).session(lambda: None)


async def held(store: Store, number: int) -> Witness:
    """A session that holds the number."""
    witness = session(store)
    assert await witness.take(number)
    return witness


async def is_held(store: Store, number: int) -> bool:
    """Whether another session cannot take the number."""
    witness = session(store)
    try:
        return not await witness.take(number)
    finally:
        await witness.close()


async def reported(store: Store, identity: NodeId, number: int | None) -> None:
    """A heartbeat at noon of a node with this number."""
    plain = beat(identity)
    await store.nodes.beat(replace(plain, node=replace(plain.node, witness=number)), NOON)


async def check_at(store: Store, seconds: float = 1.0) -> WitnessCheck:
    return await witnesses_of(store).check_all(after(seconds))


async def freed(store: Store, number: int, patience: float) -> Witness:
    """Take a number that is about to be freed: a server needs a moment for that."""
    clock = SystemClock()
    async with asyncio.timeout(patience):
        while True:
            witness = session(store)
            if await witness.take(number):
                return witness
            await witness.close()
            await clock.sleep(AGAIN)


class WitnessConformance:
    """A number has one holder, and a node without its number has vanished."""

    async def test_a_number_is_held_by_one_session(self, store: Store, traits: StoreTraits) -> None:
        witness = await held(store, SEVEN)
        async with traits.another() as other:
            second = session(other)
            assert not await second.take(SEVEN)
            assert await second.take(EIGHT)
            await second.close()
        await witness.prove()
        await witness.close()

    async def test_a_number_is_free_once_its_session_is_closed(
        self, store: Store, traits: StoreTraits
    ) -> None:
        witness = await held(store, SEVEN)
        async with traits.another() as other:
            await witness.close()
            again = await freed(other, SEVEN, traits.patience)
            await again.prove()
            await again.close()

    async def test_a_session_that_is_closed_proves_nothing(self, store: Store) -> None:
        witness = await held(store, SEVEN)
        await witness.close()
        with pytest.raises(Unavailable):
            await witness.prove()

    async def test_a_node_that_holds_its_number_has_not_vanished(
        self, store: Store, traits: StoreTraits
    ) -> None:
        witness = await held(store, SEVEN)
        await reported(store, ANNE, SEVEN)
        async with traits.another() as other:
            assert await check_at(other) == WitnessCheck(1)
        await witness.close()

    async def test_a_node_whose_number_is_free_has_vanished(
        self, store: Store, traits: StoreTraits
    ) -> None:
        witness = await held(store, EIGHT)
        await reported(store, ANNE, SEVEN)
        await reported(store, BERT, EIGHT)
        async with traits.another() as other:
            assert await check_at(other) == WitnessCheck(2, (Vanished(ANNE, SEVEN, NOON),))
        await witness.close()

    async def test_calling_the_roll_takes_no_number(self, store: Store) -> None:
        await (await held(store, EIGHT)).close()
        await reported(store, ANNE, SEVEN)
        await check_at(store)
        witness = await held(store, SEVEN)
        assert (await check_at(store)).vanished == ()
        await witness.close()

    async def test_a_node_without_a_number_is_not_expected(self, store: Store) -> None:
        await reported(store, ANNE, None)
        assert await check_at(store) == WitnessCheck(0)

    async def test_a_node_whose_beats_are_over_or_that_left_is_not_expected(
        self, store: Store
    ) -> None:
        await (await held(store, EIGHT)).close()
        await reported(store, ANNE, SEVEN)
        assert (await check_at(store, 14.9)).expected == 1
        assert await check_at(store, 15) == WitnessCheck(0)
        await store.nodes.leave(ANNE)
        assert await check_at(store) == WitnessCheck(0)

    async def test_what_a_buried_node_held_is_lost_at_once(self, store: Store) -> None:
        await reported(store, ANNE, SEVEN)
        attempt = await running(store)
        assert list(await store.jobs.lost(10, after(1))) == []
        assert await witnesses_of(store).declare_dead(Vanished(ANNE, SEVEN, NOON))
        assert list(await store.jobs.lost(10, after(1))) == [attempt]
        assert await check_at(store) == WitnessCheck(0)
        assert not await witnesses_of(store).declare_dead(Vanished(ANNE, SEVEN, NOON))

    async def test_a_buried_node_died_and_one_that_left_did_not(self, store: Store) -> None:
        await reported(store, ANNE, SEVEN)
        await reported(store, BERT, EIGHT)
        assert await witnesses_of(store).declare_dead(Vanished(ANNE, SEVEN, NOON))
        await store.nodes.leave(BERT)
        records = await store.nodes.list(after(1))
        assert [(each.alive, each.died) for each in records] == [(False, True), (False, False)]

    async def test_a_node_that_has_sent_a_heartbeat_since_is_not_buried(self, store: Store) -> None:
        await reported(store, ANNE, SEVEN)
        attempt = await running(store)
        await store.nodes.beat(beat(holds=[attempt.hold]), after(1))
        assert not await witnesses_of(store).declare_dead(Vanished(ANNE, SEVEN, NOON))
        assert list(await store.jobs.lost(10, after(2))) == []

    async def test_a_buried_node_lives_again_with_its_next_heartbeat(self, store: Store) -> None:
        await reported(store, ANNE, SEVEN)
        attempt = await running(store)
        assert await witnesses_of(store).declare_dead(Vanished(ANNE, SEVEN, NOON))
        pulse = await store.nodes.beat(beat(holds=[attempt.hold]), after(1))
        assert pulse.lost == ()
        assert list(await store.jobs.lost(10, after(2))) == []

    async def test_an_unknown_node_is_not_buried(self, store: Store) -> None:
        assert not await witnesses_of(store).declare_dead(Vanished(BERT, SEVEN, NOON))
