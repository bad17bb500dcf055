"""What passes through the timed store is counted as it is, whatever comes in one batch."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat import Snooze, every
from drumbeat.model.events import AttemptEnded, TickPassed
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.ending import GivenBack
from drumbeat.model.jobs.job import Change, JobSpec, Settlement, Wanted
from drumbeat.ports.store import Store
from drumbeat.testing import inside, tick
from drumbeat.testing.clock import START

from .support import Scrape, Watched, read

ANNE, BERT = NodeId("anne:1"), NodeId("bert:1")
ALL = Wanted(("default", "mail"), frozenset({"a", "b"}), 100)


@pytest.fixture
def store(watched: Watched) -> Store:
    return watched.app.store


def scraped(watched: Watched) -> Scrape:
    return read(watched.metrics.text()[0].decode())


async def test_jobs_of_one_batch_are_counted_for_their_own_queues(
    watched: Watched, store: Store
) -> None:
    specs = [JobSpec("a"), JobSpec("b", queue="mail"), JobSpec("a", queue="mail"), JobSpec("a")]
    await store.jobs.insert([*specs, JobSpec("a", dedupe_key="k"), JobSpec("a", dedupe_key="k")])
    scrape = scraped(watched)
    assert scrape.get("drumbeat_jobs_submitted_total", queue="default") == 3
    assert scrape.get("drumbeat_jobs_submitted_total", queue="mail") == 2


@pytest.mark.parametrize(
    ("specs", "waits"),
    [
        ([JobSpec("a"), JobSpec("a"), JobSpec("b")], {"a": [60, 60], "b": [60]}),
        ([JobSpec("a"), JobSpec("a", delay=timedelta(seconds=40))], {"a": [60, 20]}),
        ([JobSpec("a"), JobSpec("a", run_at=START + timedelta(seconds=50))], {"a": [60, 10]}),
        ([JobSpec("a", run_at=START - timedelta(hours=1)), JobSpec("a")], {"a": [60, 60]}),
    ],
)
async def test_a_wait_counts_from_when_a_job_could_have_run(
    watched: Watched, store: Store, specs: list[JobSpec], waits: dict[str, list[float]]
) -> None:
    await store.jobs.insert(specs)
    await watched.clock.advance(60)
    await store.jobs.promote(100)
    await store.jobs.take(ALL, ANNE)
    scrape = scraped(watched)
    for task, expected in waits.items():
        assert scrape.get("drumbeat_job_wait_seconds_count", task=task) == len(expected)
        assert scrape.get("drumbeat_job_wait_seconds_sum", task=task) == sum(expected)


async def test_jobs_that_came_at_different_times_waited_differently(
    watched: Watched, store: Store
) -> None:
    await store.jobs.insert([JobSpec("a")])
    await watched.clock.advance(60)
    await store.jobs.insert([JobSpec("a")])
    await watched.clock.advance(10)
    await store.jobs.take(ALL, ANNE)
    assert scraped(watched).get("drumbeat_job_wait_seconds_sum", task="a") == 80


async def test_a_second_claim_of_a_job_is_no_wait_for_a_worker(
    watched: Watched, store: Store
) -> None:
    await store.jobs.insert([JobSpec("a")])
    (first,) = (await store.jobs.take(ALL, ANNE)).attempts
    await store.jobs.insert([JobSpec("a")])
    given_back = [Settlement(first.hold, Change.GIVE_BACK)]
    await watched.clock.advance(60)
    taken = await store.jobs.take(ALL, ANNE, given_back)
    assert [attempt.hold.fence for attempt in taken.attempts] == [2, 1]
    scrape = scraped(watched)
    assert scrape.get("drumbeat_job_wait_seconds_count", task="a") == 2
    assert scrape.get("drumbeat_job_wait_seconds_sum", task="a") == 60
    assert scrape.sum("drumbeat_jobs_finished_total") == 0


@pytest.mark.parametrize("settling", ["with the next claim", "by themselves"])
async def test_a_job_is_finished_when_the_store_says_so(
    watched: Watched, store: Store, settling: str
) -> None:
    await store.jobs.insert([JobSpec("a"), JobSpec("b", queue="mail"), JobSpec("a"), JobSpec("a")])
    attempts = (await store.jobs.take(ALL, ANNE)).attempts
    changes = (Change.COMPLETE, Change.FAIL, Change.RETRY, Change.CANCEL)
    settled = [
        Settlement(each.hold, change) for each, change in zip(attempts, changes, strict=True)
    ]
    for _ in range(2):  # the second time, every hold is over
        if settling == "by themselves":
            await store.jobs.settle(settled)
        else:
            await store.jobs.take(Wanted((), frozenset(), 0), ANNE, settled=settled)
    scrape = scraped(watched)
    finished = "drumbeat_jobs_finished_total"
    assert scrape.get(finished, outcome="completed", queue="default") == 1
    assert scrape.get(finished, outcome="failed", queue="mail") == 1
    assert scrape.get(finished, outcome="cancelled", queue="default") == 1
    assert scrape.sum(finished) == 3


async def test_a_late_ending_does_not_count(watched: Watched, store: Store) -> None:
    await store.jobs.insert([JobSpec("a")])
    (ours,) = (await store.jobs.take(ALL, ANNE)).attempts
    await watched.kept.jobs.settle([Settlement(ours.hold, Change.GIVE_BACK)])
    (theirs,) = (await watched.kept.jobs.take(ALL, BERT)).attempts
    await store.jobs.settle([Settlement(ours.hold, Change.COMPLETE)])
    assert scraped(watched).sum("drumbeat_jobs_finished_total") == 0
    assert theirs.hold != ours.hold


async def test_a_late_ending_does_not_hide_a_later_one(watched: Watched, store: Store) -> None:
    await store.jobs.insert([JobSpec("a")])
    (old,) = (await store.jobs.take(ALL, ANNE)).attempts
    await watched.kept.jobs.settle([Settlement(old.hold, Change.GIVE_BACK)])
    (new,) = (await store.jobs.take(ALL, ANNE)).attempts
    await store.jobs.settle([Settlement(old.hold, Change.COMPLETE)])
    await store.jobs.settle([Settlement(new.hold, Change.COMPLETE)])
    assert scraped(watched).sum("drumbeat_jobs_finished_total") == 1


async def test_a_backfill_submits_what_it_fires(watched: Watched) -> None:
    app = watched.app

    @app.scheduled(every(minutes=1), queue="mail")
    async def beat() -> None: ...

    await app.start()
    await watched.clock.advance(1)
    await app.schedules.pause("beat")
    await watched.clock.advance(180)
    end = START + timedelta(minutes=2)
    await app.schedules.backfill("beat", START + timedelta(seconds=30), end)
    await app.schedules.backfill("beat", START + timedelta(seconds=30), end)
    submitted = scraped(watched).get("drumbeat_jobs_submitted_total", queue="mail")
    assert submitted == len([START + timedelta(minutes=1), end])


async def test_every_tick_that_is_caught_up_on_submits_a_job(watched: Watched) -> None:
    app = watched.app

    @app.scheduled(every(minutes=1), queue="mail", misfire="all", overlap="allow")
    async def beat() -> None: ...

    await app.start(["worker"])  # declares the schedule, and nobody leads
    await watched.clock.advance("3m")
    await tick(app)
    fired = await app.schedules.ticks("beat")
    submitted = scraped(watched).get("drumbeat_jobs_submitted_total", queue="mail")
    assert submitted == len(fired.items) == 3


@pytest.mark.parametrize(("seconds", "runs"), [(0.0, 0), (3.0, 1)])
async def test_an_attempt_that_was_given_back_before_it_began_did_not_run(
    watched: Watched, store: Store, seconds: float, runs: int
) -> None:
    await store.jobs.insert([JobSpec("a")])
    (attempt,) = (await store.jobs.take(ALL, ANNE)).attempts
    settlement = Settlement(attempt.hold, Change.GIVE_BACK)
    event = AttemptEnded(attempt, GivenBack("the node is stopping"), settlement, seconds)
    inside.setup(watched.app).bus.emit(event)
    assert scraped(watched).sum("drumbeat_job_run_seconds_count") == runs


async def test_a_run_that_raised_at_once_did_run(watched: Watched) -> None:
    app = watched.app

    @app.task
    async def work() -> None:
        raise Snooze(timedelta(hours=1))

    await app.start()
    await work.submit()
    await watched.clock.advance(1)
    assert scraped(watched).get("drumbeat_job_run_seconds_count", task="work") == 1


async def test_ticks_of_the_instance_that_leads_are_elsewhere(watched: Watched) -> None:
    bus = inside.setup(watched.app).bus
    bus.emit(TickPassed("beat", "beat", START, START, 3))
    scrape = scraped(watched)
    assert scrape.get("drumbeat_schedule_ticks_total", outcome="elsewhere") == 3
