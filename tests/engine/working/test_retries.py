"""Retries as a task writes them: by the exception, by a list, by a function, or not at all."""

from __future__ import annotations

from itertools import pairwise

import pytest

from drumbeat import Drumbeat, Fail, Job, JobSpec, Retry, Status, every
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.model.errors import InvalidOption
from tests.engine.support.fleet import Fleet


async def ended(fleet: Fleet, app: Drumbeat, job: Job) -> Job:
    await fleet.clock.until(app.wait_until_idle(), "2m")
    return await app.jobs.get(job.id)


@pytest.mark.parametrize("threaded", [False, True])
async def test_a_task_says_which_exceptions_are_worth_a_retry(
    fleet: Fleet, app: Drumbeat, threaded: bool
) -> None:
    errors: list[BaseException] = []

    def fail() -> None:
        raise errors[-1]

    async def fail_on_the_loop() -> None:
        fail()

    retry = Retry.linear(2, "1s").on(ConnectionError)
    task = app.task(name="fail", retry=retry)(fail if threaded else fail_on_the_loop)
    async with fleet.running(app):
        attempts: list[tuple[Status, int]] = []
        for error in (ConnectionError("gone"), ValueError("wrong")):
            errors.append(error)
            job = await ended(fleet, app, await task.submit())
            attempts.append((job.status, job.attempt))
        assert attempts == [(Status.FAILED, 3), (Status.FAILED, 1)]
        own = task.options(retry=Retry.linear(5, 0))
        assert (await ended(fleet, app, await own.submit())).attempt == 1, "the task's code decides"


async def test_a_handler_fails_its_job_without_a_retry(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(retry=Retry.linear(5))
    async def pay() -> None:
        try:
            raise ValueError("no such card")
        except ValueError as error:
            raise Fail("the card was refused") from error

    async with fleet.running(app):
        job = await ended(fleet, app, await pay.submit())
        assert (job.status, job.attempt) == (Status.FAILED, 1)
        assert "ValueError: no such card" in str(job.error)
        assert str(job.error).endswith("Fail: the card was refused")


async def test_a_time_out_can_be_the_end(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(retry=Retry.linear(5).never_on(TimeoutError), timeout=3)
    async def hang() -> None:
        await fleet.clock.sleep(60)

    async with fleet.running(app):
        job = await ended(fleet, app, await hang.submit())
        assert (job.status, job.attempt) == (Status.FAILED, 1)
        assert str(job.error).startswith("timed out")


async def test_the_delays_of_a_list_and_of_a_function(fleet: Fleet, app: Drumbeat) -> None:
    starts: dict[str, list[float]] = {"by_list": [], "by_function": []}

    def after(number: int, error: BaseException) -> str | None:
        return None if number == 3 else f"{number * 10}s"

    @app.task(retry=Retry.delays("1s", "7s"))
    async def by_list() -> None:
        starts["by_list"].append(fleet.clock.elapsed())
        raise OSError

    @app.task(retry=Retry.by(after))
    async def by_function() -> None:
        starts["by_function"].append(fleet.clock.elapsed())
        raise OSError

    async with fleet.running(app):
        for task in (by_list, by_function):
            await ended(fleet, app, await task.submit())
    gaps = {
        name: [round(later - sooner) for sooner, later in pairwise(times)]
        for name, times in starts.items()
    }
    assert gaps == {"by_list": [1, 7], "by_function": [10, 20]}


async def test_a_schedule_retries_as_its_task_says(fleet: Fleet, app: Drumbeat) -> None:
    attempts: list[int] = []

    @app.scheduled(every(minutes=1), retry=Retry.delays("1s", "2s").never_on(ValueError))
    async def poll() -> None:
        attempts.append(len(attempts))
        raise OSError if len(attempts) < 3 else ValueError

    async with fleet.running(app):
        await fleet.clock.advance("70s")
        stored = await app.schedules.get("poll")
        assert stored.schedule.job.retry == Retry.delays("1s", "2s")
        assert len(attempts) == 3


async def test_conditions_are_never_dropped(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(retry=Retry.linear().on(OSError))
    async def fail() -> None: ...

    picky = Retry.linear(7).on(ValueError)
    by = Retry.by(lambda number, error: 1.0)
    async with fleet.running(app):
        for retry in (picky, by):
            with pytest.raises(InvalidOption, match="belong to the task"):
                fail.options(retry=retry)
            with pytest.raises(InvalidOption, match="belong to the task"):
                app.schedule(fail, every(minutes=1), retry=retry)
            with pytest.raises(InvalidOption, match="belong to the task"):
                await app.schedules.put("often", every(minutes=1), fail, retry=retry)
            with pytest.raises(InvalidOption, match="belong to the task"):
                await app.submit(JobSpec("fail", retry=retry))
            with pytest.raises(InvalidOption, match="belong to the task"):
                await app.jobs.submit("fail", options=TaskOptions(retry=retry))
        assert (await fail.options(queue="x").submit()).spec.retry == Retry.linear()
