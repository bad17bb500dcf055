# pyright: reportPrivateUsage=false
"""Handlers with `process=True`: real children. Where time-outs matter, the time is a fake one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from drumbeat import Cancel, Context, Drumbeat, Job, Retry, Status, Task
from drumbeat.engine.executing.run import Run
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import InvalidHandler, InvalidHook
from drumbeat.model.events import AttemptEnded, ResultDropped, ServiceFailed
from drumbeat.model.jobs.ending import Raised
from drumbeat.model.jobs.job import Change
from drumbeat.testing import FakeClock, FakeRuntime, inside
from tests.engine.support import process_handlers as handlers
from tests.engine.support.fleet import PATIENCE, Heard

CLOCK = SystemClock()


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children are given this process's path, and find the handlers by their module's name."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[1]), *sys.path])


@pytest.fixture
async def app() -> AsyncIterator[Drumbeat]:
    app = Drumbeat("memory://", processes=1, concurrency=4, heartbeat_every=0.2, node_lifetime=20)
    await app.start()
    yield app
    await app.stop(0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(patience=0.01)  # children are waited for by what they do


@pytest.fixture
async def timed(clock: FakeClock) -> AsyncIterator[Drumbeat]:
    """An app for which time stands still, however long its children take, until a test moves it."""
    app = Drumbeat("memory://", processes=1, concurrency=4, runtime=FakeRuntime(clock))
    await app.start()
    yield app
    await clock.until(app.stop(0))


async def done(app: Drumbeat, job: Job) -> Job:
    async with asyncio.timeout(PATIENCE):
        return await app.jobs.wait(job.id)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def until(holds: Callable[[], bool]) -> None:
    """Return once that is so, in real time."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await CLOCK.sleep(0.01)


async def touched(path: Path) -> None:
    """Return once the child has made the file."""
    await until(lambda: path.exists() and (path.name != "pid" or path.stat().st_size > 0))


def run_of(app: Drumbeat, job: Job) -> Run:
    node = inside.node(app)
    assert node is not None
    (run,) = [run for hold, run in node._parts.pools.attempts.runs.items() if hold.job_id == job.id]
    return run


async def test_handlers_in_a_process(app: Drumbeat) -> None:
    """One child serves them all: what each says and how each ends is the same as on the loop."""
    heard = Heard(app)
    once = Retry.never()
    add = app.task(process=True)(handlers.add)
    add_async = app.task(process=True)(handlers.add_async)
    explode = app.task(process=True, retry=once)(handlers.explode)
    snooze = app.task(process=True, retry=once)(handlers.snooze)
    cancel = app.task(process=True, retry=once)(handlers.cancel)
    leave = app.task(process=True, retry=once)(handlers.leave)

    first, second = [add.result(await done(app, await add.submit(20, n))) for n in (1, 2)]
    assert (first["sum"], second["sum"]) == (21, 22)
    assert first["pid"] == second["pid"] != os.getpid()
    assert add_async.result(await done(app, await add_async.submit(2, 3))) == 5

    failed = await done(app, await explode.submit())
    assert failed.status is Status.FAILED
    assert "ValueError: no such account" in (failed.error or "")
    assert "process_handlers.py" in (failed.error or "")

    snoozed = await done(app, await snooze.submit())
    assert (snoozed.status, snoozed.attempt) == (Status.COMPLETED, 1)
    cancelled = await done(app, await cancel.submit())
    assert (cancelled.status, cancelled.error) == (Status.CANCELLED, "not wanted")
    left = await done(app, await leave.submit())
    assert left.status is Status.FAILED
    assert "SystemExit" in (left.error or "")

    for gives_up in (handlers.give_up, handlers.give_up_async):
        gave_up = await done(app, await app.task(process=True, retry=once)(gives_up).submit())
        assert gave_up.status is Status.FAILED
        assert "GeneratorExit" in (gave_up.error or "")

    for handler in (handlers.unserialisable, handlers.huge):
        task: Task[[], object] = app.task(process=True, retry=once)(handler)
        job = await done(app, await task.submit())
        assert (job.status, job.result) == (Status.COMPLETED, None)
    assert len(heard.of(ResultDropped)) == 2


async def test_a_retry_is_decided_in_the_process_that_has_the_exception(app: Drumbeat) -> None:
    """`Declined` cannot be sent to the node."""
    heard = Heard(app)
    often = Retry.linear(3, delay=0)
    never = app.task(process=True, name="never", retry=often.never_on(handlers.Declined))
    only = app.task(process=True, name="only", retry=often.on(handlers.Declined))
    other = app.task(process=True, name="other", retry=often.on(OSError))
    dies = app.task(process=True, name="dies", retry=Retry.linear(1, delay=0).on(OSError))
    attempts: list[int] = []
    for register, handler in (
        (never, handlers.decline),
        (only, handlers.decline),
        (other, handlers.decline),
        (dies, handlers.die),
    ):
        attempts.append((await done(app, await register(handler).submit())).attempt)
    assert attempts == [1, 4, 1, 2]

    refuse = app.task(process=True, retry=often)(handlers.refuse)
    refused = await done(app, await refuse.submit())
    assert (refused.status, refused.attempt) == (Status.FAILED, 1)
    assert (refused.error or "").endswith("Fail: the order is closed")

    by = app.task(process=True, name="by", retry=Retry.by(handlers.asked_after))(handlers.decline)
    job = await by.submit()
    ended = await heard.next(AttemptEnded, len(heard.of(AttemptEnded)) + 1)
    waits = ended.settlement.delay.total_seconds()
    assert (ended.attempt.job_id, ended.settlement.change) == (job.id, Change.RETRY)
    assert waits > 0
    assert waits != os.getpid()


def test_a_retry_that_no_other_process_can_import_is_refused(app: Drumbeat) -> None:
    for retry in (
        Retry.by(lambda attempt, error: 1.0),
        Retry.linear().on(type("Own", (OSError,), {})),
    ):
        with pytest.raises(InvalidHandler, match="'add' has process=True, so the exceptions and"):
            app.task(process=True, retry=retry)(handlers.add)


async def test_a_child_that_dies_costs_an_attempt_and_nothing_else(app: Drumbeat) -> None:
    die = app.task(process=True, retry=Retry.linear(max_retries=1, delay=0))(handlers.die)
    add = app.task(process=True)(handlers.add)
    job = await done(app, await die.submit())
    assert (job.status, job.attempt) == (Status.FAILED, 2)
    assert "exit code 7" in (job.error or "")
    after = await done(app, await add.submit(1, 1))
    assert after.status is Status.COMPLETED


async def test_a_time_out_kills_the_child(
    timed: Drumbeat, clock: FakeClock, tmp_path: Path
) -> None:
    hang = timed.task(process=True, timeout=5, retry=Retry.never())(handlers.hang)
    add = timed.task(process=True)(handlers.add)
    pid = tmp_path / "pid"
    job = await hang.submit(str(pid))
    await touched(pid)
    process = int(pid.read_text(encoding="utf-8"))
    await clock.advance(4.9)
    assert alive(process)
    await clock.advance(0.2)
    ended = await done(timed, job)
    assert ended.status is Status.FAILED
    assert "timed out" in (ended.error or "")
    assert not alive(process)
    assert (await done(timed, await add.submit(1, 1))).status is Status.COMPLETED


async def test_waiting_for_a_child_does_not_count_as_running(
    timed: Drumbeat, clock: FakeClock, tmp_path: Path
) -> None:
    """There is one child for four slots: a job in the line must not time out in it."""
    hold = timed.task(process=True)(handlers.hold)
    add = timed.task(process=True, timeout=5, retry=Retry.never())(handlers.add)
    started, release = tmp_path / "started", tmp_path / "release"
    holding = await hold.submit(str(started), str(release))
    await touched(started)
    waiting = [await add.submit(1, 1), await add.submit(1, 2)]
    await clock.advance("1m")
    release.touch()
    jobs = [await done(timed, job) for job in (holding, *waiting)]
    assert [job.status for job in jobs] == [Status.COMPLETED] * 3


async def test_progress_comes_over_and_cancellation_goes_over(
    timed: Drumbeat, clock: FakeClock, tmp_path: Path
) -> None:
    report = timed.task(process=True)(handlers.report)
    told = tmp_path / "told"
    job = await report.submit(str(told))
    await touched(told)
    run = run_of(timed, job)
    await until(lambda: run.progress is not None)
    await clock.advance(10)  # the next heartbeat brings it to the store
    progress = (await timed.jobs.get(job.id)).progress
    assert progress is not None
    assert (progress.done, progress.total, progress.message) == (1, 2, "half")
    await timed.jobs.cancel(job.id)
    ended = await done(timed, job)
    assert ended.status is Status.COMPLETED  # it said that it had finished
    assert "cancelled" in report.result(ended)


async def test_a_handler_that_gives_up_when_it_is_cancelled_has_not_completed(
    timed: Drumbeat, tmp_path: Path
) -> None:
    stop_early = timed.task(process=True)(handlers.stop_early)
    told = tmp_path / "told"
    job = await stop_early.submit(str(told))
    await touched(told)
    await timed.jobs.cancel(job.id)
    ended = await done(timed, job)
    assert (ended.status, ended.result) == (Status.CANCELLED, None)


async def test_heartbeats_of_a_process_put_off_its_time_out(
    timed: Drumbeat, clock: FakeClock, tmp_path: Path
) -> None:
    beat = timed.task(process=True, heartbeat=10, retry=Retry.never())(handlers.beat)
    job = await beat.submit(str(tmp_path), 4)
    await touched(tmp_path / "started")
    run = run_of(timed, job)
    for number in range(3):
        await clock.advance(8)
        (tmp_path / f"{number}").touch()
        await until(lambda: run.deadline == clock.elapsed() + 10)
    (tmp_path / "3").touch()
    ended = await done(timed, job)
    assert (ended.status, beat.result(ended)) == (Status.COMPLETED, "finished")


async def test_a_process_that_shows_no_sign_of_life_times_out(
    timed: Drumbeat, clock: FakeClock, tmp_path: Path
) -> None:
    beat = timed.task(process=True, heartbeat=10, retry=Retry.never())(handlers.beat)
    job = await beat.submit(str(tmp_path), 1)
    await touched(tmp_path / "started")
    await clock.advance(9.9)
    assert (await timed.jobs.get(job.id)).status is Status.RUNNING
    await clock.advance(0.2)
    assert (await done(timed, job)).status is Status.FAILED


async def test_a_child_outlives_a_signal_to_the_whole_process_group(
    timed: Drumbeat, tmp_path: Path
) -> None:
    """Service managers signal all processes of a service: the parent decides when to stop."""
    report = timed.task(process=True, retry=Retry.never())(handlers.report)
    add = timed.task(process=True)(handlers.add)
    process = add.result(await done(timed, await add.submit(1, 1)))["pid"]
    told = tmp_path / "told"
    job = await report.submit(str(told))
    await touched(told)
    os.kill(process, signal.SIGTERM)
    os.kill(process, signal.SIGINT)
    await timed.jobs.cancel(job.id)
    assert (await done(timed, job)).status is Status.COMPLETED


@pytest.mark.parametrize(
    "handler", [handlers.stop_early, handlers.raise_early, handlers.stop_early_async]
)
async def test_a_handler_in_a_process_that_ends_because_the_node_stops_gives_its_job_back(
    app: Drumbeat, tmp_path: Path, handler: Callable[..., Any]
) -> None:
    task = app.task(process=True, retry=Retry.never())(handler)
    told = tmp_path / "told"
    job = await task.submit(str(told))
    await touched(told)
    await app.stop(PATIENCE)
    given_back = await app.jobs.get(job.id)
    assert (given_back.status, given_back.attempt) == (Status.QUEUED, 0)


async def test_stopping_ends_the_children_and_gives_their_jobs_back(
    app: Drumbeat, tmp_path: Path
) -> None:
    hang = app.task(process=True, retry=Retry.never())(handlers.hang)
    pid = tmp_path / "pid"
    job = await hang.submit(str(pid))
    await touched(pid)
    await app.stop(0)
    assert not alive(int(pid.read_text(encoding="utf-8")))
    given_back = await app.jobs.get(job.id)
    assert (given_back.status, given_back.attempt) == (Status.QUEUED, 0)


def test_a_handler_that_another_process_cannot_import_is_refused() -> None:
    app = Drumbeat("memory://")

    def local() -> None: ...

    for handler in (local, lambda: None):
        with pytest.raises(InvalidHandler, match="top level of a module"):
            app.task(name="task", process=True)(handler)
    assert app.tasks == frozenset()


async def test_code_below_the_handler_finds_the_context(app: Drumbeat) -> None:
    task = app.task(process=True)(handlers.current_job)
    job = await task.submit()
    assert task.result(await done(app, job)) == job.id


async def test_the_event_of_a_failure_carries_the_exception(app: Drumbeat) -> None:
    ended: list[AttemptEnded] = []
    app.on(AttemptEnded)(ended.append)
    for handler in (handlers.fail_portably, handlers.fail_unportably):
        task = app.task(process=True, retry=Retry.never())(handler)
        await done(app, await task.submit())
    portable, other = (event.ending for event in ended)
    assert isinstance(portable, Raised)
    assert isinstance(portable.exception, KeyError)
    assert isinstance(other, Raised)
    assert other.exception is None
    assert "Unportable" in other.error


async def test_hooks_of_children_are_called_once_in_each_before_its_first_call(
    app: Drumbeat,
) -> None:
    app.on_child_start(handlers.note_start)
    starts = app.task(process=True)(handlers.starts)
    child, *called = starts.result(await done(app, await starts.submit()))
    assert called == ["first"]
    app.on_child_start(handlers.note_second_start)
    assert starts.result(await done(app, await starts.submit())) == [child, "first", "second"]
    assert starts.result(await done(app, await starts.submit())) == [child, "first", "second"]


async def test_a_child_whose_hook_fails_takes_no_call_and_the_job_stays_unspent(
    app: Drumbeat,
) -> None:
    heard = Heard(app)
    app.on_child_start(handlers.fail_to_start)
    starts = app.task(process=True)(handlers.starts)
    job = await starts.submit()
    failed = await heard.next(ServiceFailed)
    assert failed.service == "processes"
    assert "on_child_start 'fail_to_start' failed" in str(failed.error)
    assert "OSError: no model here" in str(failed.error)
    await app.stop(0)
    stored = await app.jobs.get(job.id)
    assert (stored.status, stored.attempt) == (Status.QUEUED, 0)


async def test_plain_middleware_runs_in_the_child_and_asynchronous_on_the_loop(
    app: Drumbeat,
) -> None:
    here: list[int] = []

    @app.middleware
    async def around(ctx: Context, call_next: Callable[[], Awaitable[Any]]) -> object:
        here.append(os.getpid())
        return ["around", *await call_next()]

    app.middleware(handlers.count_words)
    for handler, args, result in (
        (handlers.add_async, (2, 3), 5),
        (handlers.current_job, (), None),
    ):
        task: Task[..., Any] = app.task(process=True)(handler)
        job = await done(app, await task.submit(*args))
        assert job.result is not None, job.error
        outer, child, inner = json.loads(job.result)
        assert (outer, inner) == ("around", result or job.id)
        assert child != os.getpid()
    assert here == [os.getpid(), os.getpid()]


@pytest.mark.parametrize(
    ("handler", "error", "text"),
    [
        (handlers.fail_portably, KeyError, "order 7"),
        (handlers.fail_unportably, RuntimeError, "UnportableError: no"),
        (handlers.die, RuntimeError, "exit code 7"),
        (handlers.cancel, Cancel, "not wanted"),
    ],
)
async def test_middleware_sees_the_error_of_a_child_and_the_job_keeps_its_traceback(
    app: Drumbeat, handler: Callable[..., object], error: type[BaseException], text: str
) -> None:
    seen: list[BaseException] = []

    @app.middleware
    async def around(_ctx: Context, call_next: Callable[[], Awaitable[Any]]) -> object:
        try:
            return await call_next()
        except Exception as raised:
            seen.append(raised)
            raise

    task = app.task(process=True, retry=Retry.never())(handler)
    job = await done(app, await task.submit())
    assert job.status is (Status.CANCELLED if error is Cancel else Status.FAILED)
    assert text in (job.error or "")
    assert ("process_handlers.py" in (job.error or "")) == ("fail" in task.name)
    assert (job.error or "").count("Traceback") <= 1, "the same text as without middleware"
    assert "RuntimeError" not in (job.error or "")
    assert [type(each) for each in seen] == [error]


async def test_middleware_in_the_child_may_cancel_and_cannot_be_a_local_function(
    app: Drumbeat,
) -> None:
    app.middleware(handlers.refuse_orders)
    add = app.task(process=True, retry=Retry.never())(handlers.add)
    job = await done(app, await add.submit(1, 2))
    assert (job.status, job.error) == (Status.CANCELLED, "refused in another process")

    @app.middleware
    def local(_ctx: Context, call_next: Callable[[], object]) -> object:
        return call_next()

    job = await done(app, await add.submit(1, 2))
    assert job.status is Status.FAILED
    assert "local' has to be a function at the top level of a module" in (job.error or "")
    await app.stop(0)
    with pytest.raises(InvalidHook, match="top level of a module"):
        await app.start()


async def test_a_skipped_run_leaves_its_child_to_the_next(app: Drumbeat) -> None:
    def skip(ctx: Context) -> None:
        if ctx.job_id == 1:
            raise Cancel("not today")

    add = app.task(process=True, before=skip)(handlers.add)
    job = await done(app, await add.submit(1, 2))
    assert (job.status, job.error) == (Status.CANCELLED, "not today")
    assert add.result(await done(app, await add.submit(1, 2)))["sum"] == 3


def test_what_cannot_be_a_hook_of_children_is_refused(app: Drumbeat) -> None:
    def local() -> None: ...

    for wrong, error in (
        (local, "top level of a module"),
        (done, "has to take"),
        (42, "needs a function"),
        (coroutine_hook, "plain function"),
    ):
        with pytest.raises(InvalidHook, match=error):
            app.on_child_start(wrong)  # type: ignore[type-var]


async def coroutine_hook() -> None: ...
