"""The public API: calling tasks from any kind of code, and the small helpers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from drumbeat import (
    Cancel,
    Context,
    Drumbeat,
    Job,
    NotRunning,
    Retry,
    ScheduledTask,
    Snooze,
    Status,
    bounded,
)
from drumbeat.model.errors import InvalidOption
from drumbeat.model.events import LeadershipGained
from drumbeat.testing import drain

PATIENCE = 40.0


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://")


async def test_a_job_may_be_submitted_without_starting_and_runs_once_started(
    app: Drumbeat,
) -> None:
    @app.task
    async def work() -> int:
        return 7

    job = await work.submit()
    assert job.status is Status.QUEUED
    async with app.running():
        assert await app.jobs.result(job.id, PATIENCE) == 7


def test_a_job_may_be_submitted_without_any_event_loop(app: Drumbeat) -> None:
    @app.task
    async def work(number: int) -> int:
        return number

    jobs = [work.submit_sync(number) for number in range(3)]
    assert [job.id for job in jobs] == [1, 2, 3]
    assert work.options(priority=5).submit_sync(4).spec.priority == 5

    async def run() -> list[int]:
        async with app.running():
            return [await app.jobs.result(job.id, PATIENCE) for job in jobs]

    assert asyncio.run(run()) == [0, 1, 2]
    assert work.submit_sync(5).status is Status.QUEUED


def test_an_app_serves_one_event_loop_after_the_other(app: Drumbeat) -> None:
    @app.task
    async def work(number: int) -> int:
        return number

    async def once(number: int) -> int:
        job = await work.submit(number)
        async with app.running():
            result: int = await app.jobs.result(job.id, PATIENCE)
        return result

    assert [asyncio.run(once(number)) for number in range(3)] == [0, 1, 2]


async def test_a_thread_may_submit_while_the_app_runs(app: Drumbeat) -> None:
    @app.task
    async def work(number: int) -> int:
        return number

    @app.task
    def parent(number: int) -> int:
        return work.submit_sync(number).id

    jobs: list[Job] = []
    async with app.running():
        thread = threading.Thread(target=lambda: jobs.append(work.submit_sync(1)))
        thread.start()
        await asyncio.to_thread(thread.join)
        assert await app.jobs.result(jobs[0].id, PATIENCE) == 1
        child = await app.jobs.result((await parent.submit(2)).id, PATIENCE)
        assert await app.jobs.result(child, PATIENCE) == 2


async def test_a_synchronous_call_that_would_block_the_loop_is_refused(app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    with pytest.raises(NotRunning, match=r"runs an event loop.*await .*task\.submit"):
        work.submit_sync()
    assert (await app.jobs.list()).items == ()


def test_an_error_of_a_synchronous_submission_reaches_its_caller(app: Drumbeat) -> None:
    @app.task
    async def work(number: int) -> None: ...

    with pytest.raises(ValueError, match="number"):
        work.submit_sync("seven")  # type: ignore[arg-type]


async def test_a_task_is_still_its_function(app: Drumbeat) -> None:
    @app.task
    async def greet(name: str) -> str:
        return f"Hello, {name}"

    @app.task
    def add(a: int, b: int) -> int:
        return a + b

    @app.task
    async def context(ctx: Context, number: int) -> int:
        return number

    assert await greet("Ada") == "Hello, Ada"
    assert add(1, 2) == 3
    assert (greet.name, repr(add)) == ("greet", "<Task 'add'>")
    assert app.tasks == {"greet", "add", "context"}


async def test_options_change_the_calls_that_follow_and_nothing_else(app: Drumbeat) -> None:
    @app.task(queue="mail", priority=1)
    async def work() -> None: ...

    urgent = work.options(priority=9)
    later = urgent.options(delay=60)
    jobs = [await work.submit(), await urgent.submit(), await later.submit()]
    assert [(job.spec.queue, job.spec.priority) for job in jobs] == [
        ("mail", 1),
        ("mail", 9),
        ("mail", 9),
    ]
    assert [job.status for job in jobs] == [Status.QUEUED, Status.QUEUED, Status.PENDING]


async def test_a_task_in_the_class_style_runs_with_its_own_state(app: Drumbeat) -> None:
    class Counter(ScheduledTask):
        name = "counter"
        schedule = "0 2 * * *"

        def __init__(self, start: int) -> None:
            self.count = start

        async def execute(self, ctx: Context) -> int:
            self.count += ctx.number
            return self.count

    counter = app.register(Counter(41))
    async with app.running():
        assert await app.jobs.result((await counter.submit()).id, PATIENCE) == 42
        triggered = await app.schedules.trigger("counter")
        assert await app.jobs.result(triggered.id, PATIENCE) == 43


async def test_bounded_runs_over_any_number_of_items_in_order() -> None:
    running = most = taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(500):
            taken += 1
            assert taken <= number + 1
            yield number

    async def double(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        assert taken <= number + 8
        await asyncio.wait_for(asyncio.to_thread(lambda: None), PATIENCE)
        running -= 1
        return 2 * number

    assert await bounded(double, items(), limit=7) == [2 * number for number in range(500)]
    assert most == 7
    assert await bounded(double, []) == []


async def test_the_first_error_of_bounded_ends_the_calls_under_way() -> None:
    cancelled = 0

    async def work(number: int) -> None:
        nonlocal cancelled
        if number == 3:
            raise ZeroDivisionError
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled += 1
            raise

    with pytest.raises(ExceptionGroup) as group:
        await bounded(work, range(100), limit=10)
    assert group.group_contains(ZeroDivisionError)
    assert cancelled >= 3


async def test_bounded_raises_a_flat_group_with_every_error_of_the_same_moment() -> None:
    together = asyncio.Barrier(3)

    async def work(number: int) -> None:
        await together.wait()
        raise (Snooze(60), KeyError(number), Cancel("no"))[number]

    with pytest.raises(ExceptionGroup) as raised:
        await bounded(work, range(3), limit=3)
    assert {type(each) for each in raised.value.exceptions} == {Snooze, KeyError, Cancel}


async def test_a_snooze_in_the_group_of_bounded_is_an_error_and_one_raised_again_is_none(
    app: Drumbeat,
) -> None:
    async def work(number: int) -> None:
        raise Snooze(60)

    @app.task(retry=Retry.never())
    async def grouped() -> None:
        await bounded(work, [1])

    @app.task(retry=Retry.never())
    async def unwrapped() -> None:
        try:
            await bounded(work, [1])
        except ExceptionGroup as group:
            raise group.exceptions[0] from group

    failed, snoozed = await grouped.submit(), await unwrapped.submit()
    await drain(app)
    statuses = [(await app.jobs.get(job.id)).status for job in (failed, snoozed)]
    assert statuses == [Status.FAILED, Status.PENDING]


async def test_bounded_needs_room_for_one() -> None:
    async def work(number: int) -> None: ...

    with pytest.raises(InvalidOption, match="limit must be at least 1, not 0"):
        await bounded(work, [1], limit=0)


async def test_configuration_is_shared_by_the_fleet(app: Drumbeat) -> None:
    assert await app.config.get("flags") is None
    entry = await app.config.put("flags", b"on")
    assert await app.config.compare_and_set("flags", b"off", entry.revision) is not None
    assert await app.config.compare_and_set("flags", b"on", entry.revision) is None


async def test_without_an_election_every_instance_leads() -> None:
    apps = (
        Drumbeat("memory://", leader_election=False),
        Drumbeat("memory://", coordinator="none"),
    )
    for app in apps:
        gained = asyncio.Event()

        @app.leadership.on_gained
        def note(event: LeadershipGained, gained: asyncio.Event = gained) -> None:
            gained.set()

        async with app.running(), asyncio.timeout(PATIENCE):
            await gained.wait()
            assert app.leadership.epoch == 1
