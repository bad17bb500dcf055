"""Cases: hints, which wake the subscribers of a topic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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


@asynccontextmanager
async def woken(store: Store, topic: Topic, traits: StoreTraits) -> AsyncGenerator[None]:
    """Subscribe during the body, and wait for a hint after it."""
    hint = asyncio.Event()
    unsubscribe = store.subscribe(topic, hint.set)
    try:
        yield
        async with asyncio.timeout(traits.patience):
            await hint.wait()
    finally:
        unsubscribe()


class HintConformance:
    """Hints come after a change; they say only that the subscriber should look."""

    async def test_an_inserted_job_that_is_ready_wakes_workers(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with woken(store, Topic.JOBS, traits):
            await insert_one(store, spec())

    async def test_a_hint_comes_through_every_handle(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other, woken(other, Topic.JOBS, traits):
            await insert_one(store, spec())

    async def test_a_tick_that_fires_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        async with woken(store, Topic.JOBS, traits):
            await commit(store, plan(schedule()), epoch)

    async def test_a_promoted_job_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        await insert_one(store, JobSpec("send", run_at=after(1)))
        async with woken(store, Topic.JOBS, traits):
            await store.jobs.promote(10, after(1))

    async def test_the_cancellation_of_a_running_job_wakes_its_node(
        self, store: Store, traits: StoreTraits
    ) -> None:
        attempt = await running(store)
        async with woken(store, Topic.CANCELLATIONS, traits):
            await store.jobs.cancel([attempt.job_id], "enough", NOON)

    async def test_a_job_given_back_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        attempt = await running(store)
        async with woken(store, Topic.JOBS, traits):
            await settle(store, Settlement(attempt.hold, Change.GIVE_BACK))

    async def test_a_reopened_job_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        job = await insert_one(store, spec())
        await store.jobs.cancel([job.id], at=NOON)
        async with woken(store, Topic.JOBS, traits):
            await store.jobs.reopen([job.id], NOON)

    async def test_a_freed_limit_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        await insert(store, door, door)
        (attempt,) = await take(store)
        async with woken(store, Topic.JOBS, traits):
            await finish(store, attempt.hold)

    async def test_a_new_schedule_wakes_the_ticker(self, store: Store, traits: StoreTraits) -> None:
        async with woken(store, Topic.TIMES, traits):
            await add(store, schedule())

    async def test_a_new_schedule_wakes_the_ticker_although_others_come_first(
        self, store: Store, traits: StoreTraits
    ) -> None:
        """It may have read those ahead, and not look again before their ticks."""
        await add(store, schedule("first", after(30)))
        async with woken(store, Topic.TIMES, traits):
            await add(store, schedule("second", after(31)))

    async def test_an_earlier_tick_wakes_the_ticker(
        self, store: Store, traits: StoreTraits
    ) -> None:
        before = schedule(next_tick=after(600))
        await add(store, before)
        async with woken(store, Topic.TIMES, traits):
            edit = Edit(before, replace(before, version=2, next_tick=after(30)))
            await store.schedules.put([edit])

    async def test_an_earlier_pending_job_wakes_the_promoter(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await insert_one(store, JobSpec("send", run_at=after(600)))
        async with woken(store, Topic.TIMES, traits):
            await insert_one(store, JobSpec("send", run_at=after(60)))

    async def test_a_finished_job_wakes_those_who_wait_for_it(
        self, store: Store, traits: StoreTraits
    ) -> None:
        attempt = await running(store)
        async with woken(store, Topic.FINISHED, traits):
            await finish(store, attempt.hold)

    async def test_a_cancelled_job_wakes_those_who_wait_for_it(
        self, store: Store, traits: StoreTraits
    ) -> None:
        job = await insert_one(store, spec())
        async with woken(store, Topic.FINISHED, traits):
            await store.jobs.cancel([job.id], at=NOON)

    async def test_every_subscriber_is_woken(self, store: Store, traits: StoreTraits) -> None:
        async with woken(store, Topic.JOBS, traits), woken(store, Topic.JOBS, traits):
            await insert_one(store, spec())

    async def test_a_subscription_that_was_ended_wakes_nobody(
        self, store: Store, traits: StoreTraits
    ) -> None:
        calls: list[int] = []
        store.subscribe(Topic.JOBS, lambda: calls.append(1))()
        async with woken(store, Topic.JOBS, traits):
            await insert_one(store, spec())
        assert calls == []
