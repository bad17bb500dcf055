"""The store is asked rarely, and a scrape never waits for one that is gone."""

from __future__ import annotations

import asyncio

from drumbeat.model.jobs.job import JobSpec

from .support import Fault, Scrape, Watched, read


def shows_no_job(scrape: Scrape) -> bool:
    names = {name for name, _, _ in scrape.samples()}
    return names.isdisjoint(
        {"drumbeat_jobs", "drumbeat_queue_oldest_age_seconds", "drumbeat_clock_skew_seconds"}
    )


async def test_the_store_is_asked_once_in_a_few_seconds(watched: Watched) -> None:
    asked = Fault(watched.kept.queues, "list")
    await watched.app.submit(JobSpec("send"))
    for _ in range(10):
        assert (await watched.scrape()).get("drumbeat_store_up") == 1
    await asyncio.gather(*(watched.metrics.refresh() for _ in range(10)))
    assert asked.calls == 1
    await watched.app.submit(JobSpec("send"))
    assert (await watched.scrape()).sum("drumbeat_jobs") == 1
    assert (await watched.later()).sum("drumbeat_jobs") == 2
    assert asked.calls == 2


async def test_before_it_was_asked_nothing_is_said_of_the_store(watched: Watched) -> None:
    scrape = read(watched.metrics.text()[0].decode())
    assert scrape.get("drumbeat_store_up") is None
    assert shows_no_job(scrape)


async def test_a_store_that_fails_is_down_and_its_jobs_are_unknown(watched: Watched) -> None:
    fault = Fault(watched.kept.queues, "list")
    await watched.app.submit(JobSpec("send"))
    assert (await watched.scrape()).sum("drumbeat_jobs") == 1
    fault.mode = "fail"
    scrape = await watched.later()
    assert scrape.get("drumbeat_store_up") == 0
    assert shows_no_job(scrape)
    assert watched.metrics.summary()["queued_jobs"] is None
    fault.heal()
    scrape = await watched.later()
    assert scrape.get("drumbeat_store_up") == 1
    assert scrape.sum("drumbeat_jobs") == 1


async def test_a_scrape_does_not_wait_for_a_store_that_hangs(watched: Watched) -> None:
    fault = Fault(watched.kept.queues, "list")
    fault.mode = "hang"
    scraping = asyncio.create_task(watched.scrape())
    second = asyncio.create_task(watched.scrape())
    await fault.hanging.wait()
    await watched.clock.advance(1)
    scrape, other = await scraping, await second
    assert scrape.get("drumbeat_store_up") == other.get("drumbeat_store_up") == 0
    assert shows_no_job(scrape)
    assert fault.calls == 1
    assert scrape.get("drumbeat_leader_status") == 0  # the rest is there
    fault.heal()
    assert (await watched.later()).get("drumbeat_store_up") == 1


async def test_a_scrape_does_not_wait_for_a_store_that_will_not_be_cancelled(
    watched: Watched,
) -> None:
    released = asyncio.Event()

    async def stubborn() -> None:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    watched.kept.queues.list = stubborn  # type: ignore[assignment,method-assign]
    scraping = asyncio.create_task(watched.scrape())
    await watched.clock.advance(1)
    assert (await scraping).get("drumbeat_store_up") == 0
    released.set()


async def test_half_of_the_time_that_an_answer_takes_is_no_skew(watched: Watched) -> None:
    fault = Fault(watched.kept.queues, "list")
    fault.mode = "hang"
    scraping = asyncio.create_task(watched.scrape())
    await fault.hanging.wait()
    await watched.clock.advance(0.5)
    fault.heal()  # it answers with its time at the end, and may as well have at the start
    assert (await scraping).get("drumbeat_clock_skew_seconds") == -0.25


async def test_a_scrape_that_is_given_up_leaves_the_next_one_free(watched: Watched) -> None:
    fault = Fault(watched.kept.queues, "list")
    fault.mode = "hang"
    scraping = asyncio.create_task(watched.scrape())
    await fault.hanging.wait()
    scraping.cancel()
    await asyncio.wait([scraping])
    fault.heal()
    assert (await watched.scrape()).get("drumbeat_store_up") == 1
