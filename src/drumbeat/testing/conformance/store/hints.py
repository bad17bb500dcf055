"""Cases: hints, which wake the subscribers of a topic."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from drumbeat.model.jobs.job import Change, JobSpec, Limit, Settlement
from drumbeat.model.schedules.plan import Edit
from drumbeat.ports.store import Store, Topic
from drumbeat.testing.conformance.builders import (
    NOON,
    add,
    after,
    commit,
    finish,
    insert,
    insert_one,
    lead,
    plan,
    running,
    schedule,
    settle,
    spec,
    take,
)
from drumbeat.testing.conformance.traits import StoreTraits


@contextmanager
def listening(store: Store, topic: Topic) -> Generator[asyncio.Event]:
    heard = asyncio.Event()
    unsubscribe = store.subscribe(topic, heard.set)
    try:
        yield heard
    finally:
        unsubscribe()


class HintConformance:
    """Hints come after a change; they say only that the subscriber should look."""

    async def test_an_inserted_job_that_is_ready_wakes_workers(
        self, store: Store, traits: StoreTraits
    ) -> None:
        with listening(store, Topic.JOBS) as heard:
            await insert_one(store, spec())
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_hint_comes_through_every_handle(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            with listening(other, Topic.JOBS) as heard:
                await insert_one(store, spec())
                async with asyncio.timeout(traits.patience):
                    await heard.wait()

    async def test_a_tick_that_fires_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        with listening(store, Topic.JOBS) as heard:
            await commit(store, plan(schedule()), epoch)
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_promoted_job_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        await insert_one(store, JobSpec("send", run_at=after(1)))
        with listening(store, Topic.JOBS) as heard:
            await store.jobs.promote(10, after(1))
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_the_cancellation_of_a_running_job_wakes_its_node(
        self, store: Store, traits: StoreTraits
    ) -> None:
        attempt = await running(store)
        with listening(store, Topic.CANCELLATIONS) as heard:
            await store.jobs.cancel([attempt.job_id], "enough", NOON)
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_job_given_back_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        attempt = await running(store)
        with listening(store, Topic.JOBS) as heard:
            await settle(store, Settlement(attempt.hold, Change.GIVE_BACK))
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_reopened_job_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        job = await insert_one(store, spec())
        await store.jobs.cancel([job.id], at=NOON)
        with listening(store, Topic.JOBS) as heard:
            await store.jobs.reopen([job.id], NOON)
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_freed_limit_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        await insert(store, door, door)
        (attempt,) = await take(store)
        with listening(store, Topic.JOBS) as heard:
            await finish(store, attempt.hold)
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_new_schedule_wakes_the_ticker(self, store: Store, traits: StoreTraits) -> None:
        with listening(store, Topic.TIMES) as heard:
            await add(store, schedule())
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_an_earlier_tick_wakes_the_ticker(
        self, store: Store, traits: StoreTraits
    ) -> None:
        before = schedule(next_tick=after(600))
        await add(store, before)
        with listening(store, Topic.TIMES) as heard:
            edit = Edit(before, replace(before, version=2, next_tick=after(30)))
            await store.schedules.put([edit])
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_an_earlier_pending_job_wakes_the_promoter(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await insert_one(store, JobSpec("send", run_at=after(600)))
        with listening(store, Topic.TIMES) as heard:
            await insert_one(store, JobSpec("send", run_at=after(60)))
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_finished_job_wakes_those_who_wait_for_it(
        self, store: Store, traits: StoreTraits
    ) -> None:
        attempt = await running(store)
        with listening(store, Topic.FINISHED) as heard:
            await finish(store, attempt.hold)
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_a_cancelled_job_wakes_those_who_wait_for_it(
        self, store: Store, traits: StoreTraits
    ) -> None:
        job = await insert_one(store, spec())
        with listening(store, Topic.FINISHED) as heard:
            await store.jobs.cancel([job.id], at=NOON)
            async with asyncio.timeout(traits.patience):
                await heard.wait()

    async def test_every_subscriber_is_woken(self, store: Store, traits: StoreTraits) -> None:
        with (
            listening(store, Topic.JOBS) as first,
            listening(store, Topic.JOBS) as second,
        ):
            await insert_one(store, spec())
            async with asyncio.timeout(traits.patience):
                await first.wait()
                await second.wait()

    async def test_a_subscription_that_was_ended_wakes_nobody(
        self, store: Store, traits: StoreTraits
    ) -> None:
        calls: list[int] = []
        store.subscribe(Topic.JOBS, lambda: calls.append(1))()
        with listening(store, Topic.JOBS) as heard:
            await insert_one(store, spec())
            async with asyncio.timeout(traits.patience):
                await heard.wait()
        assert calls == []
