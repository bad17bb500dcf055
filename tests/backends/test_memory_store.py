"""The memory store against the suite that it is the specification of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread, get_ident

import pytest

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.errors import NaiveDatetime
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec
from drumbeat.ports.store import Store, Topic
from drumbeat.testing.conformance import StoreConformance, StoreTraits
from drumbeat.testing.conformance.builders import insert, take, wanted

from .hand_clock import START, HandClock


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        store = MemoryStore(HandClock())
        await store.open()
        yield store
        await store.close()

    @pytest.fixture
    def traits(self, store: Store) -> StoreTraits:
        @asynccontextmanager
        async def another() -> AsyncGenerator[Store]:
            yield store  # one truth in one process: its handles are the object itself

        return StoreTraits(another)

    async def test_a_subscriber_is_woken_on_its_own_loop_from_any_thread(
        self, store: Store
    ) -> None:
        heard = asyncio.Event()
        woken_in: list[int] = []

        def wake() -> None:
            woken_in.append(get_ident())
            heard.set()

        store.subscribe(Topic.JOBS, wake)
        thread = Thread(target=lambda: asyncio.run(_insert(store, 1)))
        thread.start()
        async with asyncio.timeout(40):
            await heard.wait()
        thread.join()
        assert woken_in == [get_ident()]

    async def test_a_subscriber_whose_loop_is_gone_does_no_harm(self, store: Store) -> None:
        thread = Thread(target=lambda: asyncio.run(_subscribe(store)))
        thread.start()
        thread.join()
        await _insert(store, 1)

    async def test_threads_share_the_truth(self, store: Store) -> None:
        taken: list[list[JobId]] = [[] for _ in range(4)]

        async def insert_and_take(mine: list[JobId]) -> None:
            await _insert(store, 100)
            while batch := await take(store, wanted(limit=7)):
                mine += [attempt.job_id for attempt in batch]

        def work(mine: list[JobId]) -> None:
            asyncio.run(insert_and_take(mine))

        threads = [Thread(target=work, args=(mine,)) for mine in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        claimed = [job_id for mine in taken for job_id in mine]
        assert sorted(claimed) == list(range(1, 401))

    async def test_a_subscriber_may_ask_the_store_at_once(self, store: Store) -> None:
        asked: list[object] = []
        store.subscribe(Topic.JOBS, lambda: asked.append(store.subscribe(Topic.TIMES, _nothing)))
        await _insert(store, 1)
        assert len(asked) == 1

    async def test_a_time_without_a_zone_is_refused_before_anything_is_written(
        self, store: Store
    ) -> None:
        naive = JobSpec("send", run_at=START.replace(tzinfo=None))
        with pytest.raises(NaiveDatetime):
            await store.jobs.insert([JobSpec("send"), naive])
        with pytest.raises(NaiveDatetime):
            await store.jobs.insert([JobSpec("send")], START.replace(tzinfo=None))
        assert await store.jobs.counts() == {}


def _nothing() -> None: ...


async def _insert(store: Store, number: int) -> None:
    await insert(store, *[JobSpec("send")] * number)


async def _subscribe(store: Store) -> None:
    store.subscribe(Topic.JOBS, _nothing)
