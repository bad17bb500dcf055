"""Middleware and `before` hooks run around each attempt, wherever its handler runs."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from drumbeat import Cancel, Context, Drumbeat, Fail, Retry, Snooze, Status, current
from drumbeat.engine.tasks.hooks import Hook
from drumbeat.model.errors import InvalidHook
from drumbeat.model.events import AttemptCompleted, AttemptEnded, AttemptOverran
from drumbeat.model.jobs.ending import GivenBack, Raised
from drumbeat.testing import FakeClock, drain, inline
from tests.engine.support.fleet import Fleet, Heard

TENANT: ContextVar[str] = ContextVar("tenant", default="nobody")
ONCE = Retry.never()
Nested = Callable[[], Awaitable[Any]]


async def yield_once() -> None:
    """Let others have the event loop."""
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, None)
    await future


def tenant_in(kind: str) -> Callable[..., Any]:
    def in_thread() -> str:
        return TENANT.get()

    async def on_loop() -> str:
        await yield_once()
        return TENANT.get()

    return {"loop": on_loop, "thread": in_thread}[kind]


@pytest.mark.parametrize("kind", ["loop", "thread"])
async def test_a_handler_sees_what_middleware_sets_and_no_other_attempt_does(
    fleet: Fleet, app: Drumbeat, kind: str
) -> None:
    @app.middleware
    async def name_tenant(ctx: Context, call_next: Nested) -> object:
        assert TENANT.get() == "nobody"
        assert current() is ctx
        TENANT.set(f"tenant of {ctx.job_id}")
        return await call_next()

    task = app.task(tenant_in(kind))
    async with fleet.running(app):
        for _ in range(2):
            job = await fleet.done(app, await task.submit(), "1s")
            assert task.result(job) == f"tenant of {job.id}"


async def test_the_first_middleware_is_outermost_and_the_plain_ones_run_in_the_thread(
    fleet: Fleet, app: Drumbeat
) -> None:
    steps: list[tuple[str, bool]] = []

    def note(step: str) -> None:
        steps.append((step, threading.current_thread() is threading.main_thread()))

    def around(name: str) -> None:
        async def on_loop(_ctx: Context, call_next: Nested) -> object:
            note(f"{name} begins")
            result = await call_next()
            note(f"{name} ends")
            return result

        def in_thread(ctx: Context, call_next: Callable[[], object]) -> object:
            assert current() is ctx
            note(f"{name} in the thread begins")
            result = call_next()
            note(f"{name} in the thread ends")
            return result

        app.middleware(in_thread)
        app.middleware(on_loop)

    around("a")
    around("b")

    @app.before
    def check(_ctx: Context) -> None:
        note("check")

    @app.before
    async def check_on_loop(_ctx: Context) -> None:
        note("check on the loop")

    @app.task
    def work() -> int:
        note("work")
        return 1

    @app.task
    async def work_on_loop() -> int:
        note("work")
        return 1

    async with fleet.running(app):
        job = await fleet.done(app, await work.submit(), "1s")
        assert work.result(job) == 1
        assert steps == [
            ("a begins", True),
            ("b begins", True),
            ("check", False),
            ("check on the loop", True),
            ("a in the thread begins", False),
            ("b in the thread begins", False),
            ("work", False),
            ("b in the thread ends", False),
            ("a in the thread ends", False),
            ("b ends", True),
            ("a ends", True),
        ]
        steps.clear()
        await fleet.done(app, await work_on_loop.submit(), "1s")
        assert [step for step, _ in steps] == [
            "a begins", "b begins", "check", "check on the loop", "work", "b ends", "a ends"
        ]  # fmt: skip


@pytest.mark.parametrize("kind", ["loop", "thread"])
async def test_middleware_may_change_the_result(fleet: Fleet, app: Drumbeat, kind: str) -> None:
    @app.middleware
    async def double(_ctx: Context, call_next: Nested) -> object:
        return 2 * await call_next()

    def in_thread(number: int) -> int:
        return number

    async def on_loop(number: int) -> int:
        return number

    task = app.task({"loop": on_loop, "thread": in_thread}[kind])
    async with fleet.running(app):
        assert task.result(await fleet.done(app, await task.submit(21), "1s")) == 42


async def test_an_error_in_middleware_is_that_of_the_attempt_without_our_frames(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    seen: list[BaseException] = []

    @app.middleware
    async def open_connection(_ctx: Context, call_next: Nested) -> object:
        try:
            return await call_next()
        except ValueError as error:
            seen.append(error)
            raise

    @app.middleware
    def translate(_ctx: Context, call_next: Callable[[], object]) -> object:
        return call_next()

    @app.task(retry=ONCE)
    def fail() -> None:
        raise ValueError("no such order")

    async with fleet.running(app):
        job = await fleet.done(app, await fail.submit(), "1s")
    assert job.status is Status.FAILED
    (ended,) = heard.of(AttemptEnded)
    assert isinstance(ended.ending, Raised)
    assert [ended.ending.exception] == seen
    error = job.error or ""
    assert error.index("in open_connection") < error.index("in translate") < error.index("in fail")
    assert error.count('File "') == 3, "frames of our own say nothing about the error"


async def test_arguments_that_do_not_fit_are_seen_by_middleware(
    fleet: Fleet, app: Drumbeat
) -> None:
    seen: list[str] = []

    @app.middleware
    async def report(_ctx: Context, call_next: Nested) -> object:
        try:
            return await call_next()
        except Exception as error:
            seen.append(type(error).__name__)
            raise

    @app.task
    async def work(number: int) -> None: ...

    async with fleet.running(app):
        spec = replace(work._definition.job((1,), {}), arguments=b'{"number": "one"}')  # pyright: ignore[reportPrivateUsage]
        job = await fleet.done(app, await app.submit(spec), "1s")
    assert (job.status, job.attempt, seen) == (Status.FAILED, 1, ["InvalidArguments"])


@pytest.mark.parametrize("where", ["middleware", "sync middleware", "before", "sync before"])
async def test_outcomes_can_be_raised_from_every_hook(
    fleet: Fleet, app: Drumbeat, where: str
) -> None:
    ran: list[int] = []

    def decide(ctx: Context) -> None:
        if ctx.fence == 1:
            raise Snooze(60)
        raise Cancel("the shop is closed")

    async def decide_later(ctx: Context) -> None:
        decide(ctx)

    async def around(ctx: Context, call_next: Nested) -> object:
        decide(ctx)
        return await call_next()

    def around_in_thread(ctx: Context, call_next: Callable[[], object]) -> object:
        decide(ctx)
        return call_next()

    match where:
        case "middleware":
            app.middleware(around)
        case "sync middleware":
            app.middleware(around_in_thread)
        case "before":
            app.before(decide_later)
        case _:
            app.before(decide)

    @app.task(retry=ONCE)
    def work() -> None:
        ran.append(1)

    async with fleet.running(app):
        job = await fleet.done(app, await work.submit())
    assert (job.status, job.error, job.attempt) == (Status.CANCELLED, "the shop is closed", 1)
    assert not ran


@pytest.mark.parametrize("in_middleware", [False, True])
async def test_fail_from_a_hook_ends_the_job_at_once(
    fleet: Fleet, app: Drumbeat, *, in_middleware: bool
) -> None:
    async def check(ctx: Context) -> None:
        raise Fail("no such tenant")

    async def around(_ctx: Context, call_next: Nested) -> object:
        raise Fail("no such tenant")

    if in_middleware:
        app.middleware(around)
    else:
        app.before(check)

    @app.task(retry=Retry.linear(5))
    async def work() -> None: ...

    async with fleet.running(app):
        job = await fleet.done(app, await work.submit(), "1s")
    assert (job.status, job.attempt) == (Status.FAILED, 1)
    assert "no such tenant" in (job.error or "")


async def test_a_check_of_one_task_is_not_asked_for_others_and_a_schedule_may_have_one(
    fleet: Fleet, app: Drumbeat
) -> None:
    asked: list[str] = []

    def closed(ctx: Context) -> None:
        asked.append(ctx.task)
        raise Cancel("a holiday")

    async def opened(ctx: Context) -> None:
        asked.append(f"{ctx.task} too")

    @app.task(before=[opened, closed])
    async def guarded() -> None: ...

    @app.task
    async def free() -> None: ...

    @app.scheduled("0 2 * * *", before=closed)
    async def nightly() -> None: ...

    async with fleet.running(app):
        job = await fleet.done(app, await guarded.submit(), "1s")
        assert (job.status, job.error) == (Status.CANCELLED, "a holiday")
        assert (await fleet.done(app, await free.submit(), "1s")).status is Status.COMPLETED
        job = await fleet.done(app, await app.schedules.trigger("nightly"), "1s")
        assert (job.status, job.error) == (Status.CANCELLED, "a holiday")
    assert asked == ["guarded too", "guarded", "nightly"]


async def test_middleware_that_is_registered_while_the_app_runs_takes_effect(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def work() -> int:
        return 1

    async with fleet.running(app):
        assert work.result(await fleet.done(app, await work.submit(), "1s")) == 1

        @app.middleware
        async def double(_ctx: Context, call_next: Nested) -> object:
            return 2 * await call_next()

        assert work.result(await fleet.done(app, await work.submit(), "1s")) == 2


async def test_inline_and_drain_run_the_hooks_too(app: Drumbeat) -> None:
    seen: list[str] = []

    @app.middleware
    async def note(ctx: Context, call_next: Nested) -> object:
        seen.append(ctx.task)
        return await call_next()

    @app.task
    async def work() -> None: ...

    with inline(app):
        await work.submit()
    await work.submit()
    await drain(app)
    assert seen == ["work", "work"]


# What a middleware may do wrong.


async def never_calls(_ctx: Context, call_next: Nested) -> object:
    return "skipped"


async def forgets_to_await(_ctx: Context, call_next: Nested) -> object:
    return call_next()


async def calls_twice(_ctx: Context, call_next: Nested) -> object:
    await call_next()
    return await call_next()


async def leaves_it_running(_ctx: Context, call_next: Nested) -> None:
    task = asyncio.ensure_future(call_next())
    while not LEFT:
        await asyncio.wait([task], timeout=0)


def never_calls_in_thread(_ctx: Context, call_next: Callable[[], object]) -> object:
    return "skipped"


def calls_twice_in_thread(_ctx: Context, call_next: Callable[[], object]) -> object:
    return (call_next(), call_next())


def hides_its_coroutine(ctx: Context, call_next: Callable[[], object]) -> object:
    return forgets_to_await(ctx, call_next)  # type: ignore[arg-type]


LEFT: list[str] = []


@pytest.mark.parametrize(
    ("middleware", "error"),
    [
        (never_calls, "returned without calling call_next"),
        (forgets_to_await, "write `await call_next"),
        (calls_twice, "called call_next.. twice"),
        (leaves_it_running, "write `await call_next"),
        (never_calls_in_thread, "returned without calling call_next"),
        (calls_twice_in_thread, "called call_next.. twice"),
        (hides_its_coroutine, "returned an awaitable; declare it with async def"),
    ],
)
@pytest.mark.filterwarnings("error")
async def test_middleware_that_breaks_its_contract_fails_the_attempt_and_is_named(
    fleet: Fleet, app: Drumbeat, middleware: Callable[..., Any], error: str
) -> None:
    LEFT.clear()
    cancelled: list[bool] = []
    app.middleware(middleware)

    async def on_loop() -> None:
        LEFT.append("running")
        if middleware is leaves_it_running:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(True)

    def in_thread() -> None: ...

    on_thread = "thread" in middleware.__name__ or middleware is hides_its_coroutine
    task = app.task(in_thread) if on_thread else app.task(on_loop)
    async with fleet.running(app):
        job = await fleet.done(app, await task.options(retry=ONCE).submit(), "1s")
    assert job.status is Status.FAILED
    assert middleware.__name__ in (job.error or "")
    assert re.search(error, job.error or "")
    assert cancelled == ([True] if middleware is leaves_it_running else [])


async def test_a_check_that_returns_something_fails_the_attempt(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=ONCE, before=lambda _ctx: False)  # type: ignore[arg-type, return-value]
    async def work() -> None: ...

    async with fleet.running(app):
        job = await fleet.done(app, await work.submit(), "1s")
    assert 'returned False; to skip a run, raise Cancel("why")' in (job.error or "")
    assert job.status is Status.FAILED


class Callme:
    async def __call__(self, ctx: Context, call_next: Nested) -> object:
        return await call_next()


class Generates:
    def __call__(self, ctx: Context, call_next: Nested) -> Iterator[object]:
        yield 1


def takes_context_only(ctx: Context) -> object: ...


def generates(ctx: Context, call_next: Nested) -> Iterator[object]:
    yield call_next()


async def generates_asynchronously(ctx: Context, call_next: Nested) -> AsyncIterator[object]:
    yield await call_next()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (None, "middleware needs a function, not None"),
        ("shop.work", "middleware needs a function, not 'shop.work'"),
        (Callme, "middleware needs a function, not <class"),
        (generates, "'generates' is a generator"),
        (generates_asynchronously, "'generates_asynchronously' is a generator"),
        (Generates(), "is a generator"),
        (takes_context_only, r"has to take \(ctx, call_next\)"),
        (lambda: 1, r"has to take \(ctx, call_next\)"),
    ],
)
def test_what_cannot_be_middleware_is_refused_at_once(
    app: Drumbeat, wrong: Any, error: str
) -> None:
    with pytest.raises(InvalidHook, match=error):
        app.middleware(wrong)


def test_what_cannot_be_a_check_is_refused_at_once(app: Drumbeat) -> None:
    with pytest.raises(InvalidHook, match="before needs a function, not 'closed'"):
        app.task(before="closed")  # type: ignore[arg-type]
    with pytest.raises(InvalidHook, match="'generates' is a generator"):
        app.scheduled("0 2 * * *", before=[generates])  # type: ignore[list-item]
    with pytest.raises(InvalidHook, match=r"has to take \(ctx\)"):
        app.before(lambda: None)  # type: ignore[type-var]


def test_asynchronous_callables_of_every_kind_are_recognised() -> None:
    takes = ("ctx", "call_next")
    for asynchronous in (Callme(), partial(never_calls), Callme().__call__):
        assert Hook.of("middleware", asynchronous, *takes).asynchronous
    assert not Hook.of("middleware", partial(never_calls_in_thread), *takes).asynchronous


# Cancellations, time-outs and nodes that stop.


async def test_a_cancellation_cannot_be_swallowed_by_middleware(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    @app.middleware
    async def swallow(_ctx: Context, call_next: Nested) -> object:
        try:
            return await call_next()
        except BaseException:  # noqa: BLE001 - what the test is about
            return "it is all right"

    @app.task(timeout=5, retry=ONCE)
    async def hang() -> None:
        await asyncio.Event().wait()

    async with fleet.running(app):
        job = await hang.submit()
        await clock.settle()
        await clock.advance(6)
        job = await app.jobs.get(job.id)
    assert (job.status, job.error) == (Status.FAILED, "timed out after 5 s")


async def test_a_time_out_of_the_middleware_is_its_own_to_handle(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.middleware
    async def bound(_ctx: Context, call_next: Nested) -> object:
        try:
            return await asyncio.wait_for(call_next(), 0.01)
        except TimeoutError:
            return "too slow"

    @app.task(retry=ONCE)
    async def hang() -> str:
        await asyncio.Event().wait()
        return "never"

    async with fleet.running(app):
        job = await hang.submit()
        await heard.next(AttemptCompleted)
        assert hang.result(await fleet.done(app, job, "1s")) == "too slow"


async def test_a_thread_that_outlasts_its_middleware_keeps_its_slot() -> None:
    fleet = Fleet(FakeClock(patience=0.01))
    app, clock = fleet.app(), fleet.clock
    heard = Heard(app)
    released, cleaned_up = threading.Event(), asyncio.Event()

    @app.middleware
    async def clean_up(_ctx: Context, call_next: Nested) -> object:
        try:
            return await call_next()
        finally:
            cleaned_up.set()

    @app.task(timeout=5, retry=ONCE)
    def hang() -> None:
        released.wait(20)

    async with fleet.running(app):
        job = await hang.submit()
        await clock.settle()
        await clock.advance(6)
        assert (await app.jobs.get(job.id)).status is Status.FAILED
        assert cleaned_up.is_set()
        assert heard.of(AttemptOverran)
        released.set()


@pytest.mark.parametrize("looks", ["the handler", "the middleware"])
async def test_only_a_handler_that_knew_of_the_stop_gives_its_job_back(
    fleet: Fleet, app: Drumbeat, clock: FakeClock, heard: Heard, looks: str
) -> None:
    started, stopping = asyncio.Event(), asyncio.Event()

    @app.middleware
    async def look(ctx: Context, call_next: Nested) -> object:
        result = await call_next()
        assert ctx.cancelled
        return result

    @app.task
    async def work(ctx: Context) -> str:
        started.set()
        await stopping.wait()
        return "half done" if looks == "the handler" and ctx.cancelled else "done"

    await app.start()
    job = await work.submit()
    await clock.settle()
    assert started.is_set()
    stop = asyncio.create_task(app.stop(10))
    await clock.settle()
    stopping.set()
    await asyncio.wait([stop])
    job = await app.jobs.get(job.id)
    if looks == "the handler":
        assert isinstance(heard.of(AttemptEnded)[0].ending, GivenBack)
        assert job.status is Status.QUEUED
    else:
        assert (job.status, work.result(job)) == (Status.COMPLETED, "done")
