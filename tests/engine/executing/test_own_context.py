"""Each attempt has a context of its own."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest

from drumbeat import Context, Drumbeat, NotRunning, Retry, current
from drumbeat.model.jobs.job import Status
from drumbeat.testing import FakeClock
from tests.engine.support.fleet import Fleet


async def yield_once() -> None:
    """Let others have the event loop."""
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, None)
    await future


TENANT: ContextVar[str] = ContextVar("tenant")


def seen_and_set() -> str:
    seen = TENANT.get("nobody")
    TENANT.set("leaked")
    return seen


@pytest.mark.parametrize("kind", ["at once", "after a wait", "in a thread"])
async def test_a_variable_that_one_job_sets_is_not_seen_by_the_next(
    fleet: Fleet, app: Drumbeat, kind: str
) -> None:
    async def at_once() -> str:
        return seen_and_set()

    async def after_a_wait() -> str:
        await yield_once()
        seen = seen_and_set()
        await yield_once()
        assert TENANT.get() == "leaked"  # it keeps what it has set itself
        return seen

    handler = {"at once": at_once, "after a wait": after_a_wait, "in a thread": seen_and_set}[kind]
    task = app.task(handler)
    async with fleet.running(app):
        for _ in range(3):
            job = await fleet.done(app, await task.submit(), "1s")
            assert task.result(job) == "nobody"


async def test_what_was_set_before_the_start_is_seen_by_all(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def work() -> str:
        return seen_and_set()

    TENANT.set("acme")
    async with fleet.running(app):
        for _ in range(2):
            job = await fleet.done(app, await work.submit(), "1s")
            assert work.result(job) == "acme"


async def test_the_context_is_found_anywhere_below_a_handler(fleet: Fleet, app: Drumbeat) -> None:
    def deep() -> int:
        return current().job_id

    @app.task
    async def loop() -> int:
        await yield_once()
        return await asyncio.create_task(deeper())

    async def deeper() -> int:
        return deep()

    @app.task
    def thread() -> int:
        return deep()

    @app.task
    async def same(ctx: Context) -> bool:
        return current() is ctx

    async with fleet.running(app):
        for task in (loop, thread):
            job = await fleet.done(app, await task.submit(), "1s")
            assert task.result(job) == job.id
        assert same.result(await fleet.done(app, await same.submit(), "1s")) is True
    with pytest.raises(NotRunning, match="a handler calls"):
        current()


async def test_errors_and_cancellations_reach_the_handler(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    caught: list[str] = []

    @app.task(timeout=5, retry=Retry.never())
    async def work() -> str:
        try:
            await asyncio.wait_for(asyncio.get_running_loop().create_future(), 0)
        except TimeoutError:
            caught.append("its own time-out")
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            caught.append("cancelled")
            raise
        return "never"

    async with fleet.running(app):
        job = await work.submit()
        await clock.settle()
        await clock.advance(6)
        assert caught == ["its own time-out", "cancelled"]
        assert (await app.jobs.get(job.id)).status is Status.FAILED
