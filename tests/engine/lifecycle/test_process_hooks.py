"""Hooks that run when a process becomes a node, and when it stops being one."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.model.errors import InvalidHook, StartHookFailed, Unavailable
from drumbeat.model.events import HookFailed, StoreAwaited
from drumbeat.model.fleet.node import Role
from tests.engine.support.fleet import Fault, Fleet, Heard


async def test_hooks_run_around_the_jobs_of_each_start(fleet: Fleet, app: Drumbeat) -> None:
    steps: list[str] = []

    @app.on_start
    async def first() -> None:
        steps.append("first")
        await work.submit()  # the store is reached

    @app.on_start
    def second() -> None:
        assert threading.current_thread() is not threading.main_thread()
        steps.append("second")

    @app.on_stop
    def last() -> None:
        steps.append("last")

    @app.on_stop
    async def last_but_one() -> None:
        job = await app.jobs.get(1)
        steps.append(f"the job is {job.status}")

    @app.task
    async def work() -> None:
        steps.append("work")

    for _ in range(2):
        steps.clear()
        async with fleet.running(app):
            await app.wait_until_idle()
        assert steps == ["first", "second", "work", "the job is completed", "last"]


async def test_a_start_hook_that_fails_stops_the_start(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    called: list[str] = []

    @app.on_start
    async def open_pool() -> None:
        if not called:
            called.append("open_pool")
            raise OSError("no route to the database")

    @app.on_start
    async def warm_up() -> None:
        called.append("warm_up")

    @app.on_stop
    async def close_pool() -> None:
        called.append("close_pool")

    with pytest.raises(StartHookFailed, match=r"'.*open_pool' failed.*OSError: no route") as raised:
        await app.start()
    assert isinstance(raised.value.__cause__, OSError)
    assert called == ["open_pool"]
    assert heard.of(HookFailed)[0].error is raised.value.__cause__
    await app.stop()
    assert not await app.nodes()
    async with fleet.running(app):
        assert called == ["open_pool", "warm_up"]
    assert called == ["open_pool", "warm_up", "close_pool"]


async def test_hooks_run_once_although_a_start_is_tried_again(fleet: Fleet, app: Drumbeat) -> None:
    called: list[str] = []
    app.on_start(lambda: called.append("start"))
    app.on_stop(lambda: called.append("stop"))
    Fault(fleet.store.nodes, "beat").before(2)
    heard = Heard(app)
    await fleet.clock.until(app.start(wait=60))
    assert heard.of(StoreAwaited)
    assert called == ["start"]
    await fleet.clock.until(app.stop(0))
    assert called == ["start", "stop"]


async def test_stop_hooks_run_if_the_start_fails_after_the_start_hooks(
    fleet: Fleet, app: Drumbeat
) -> None:
    called: list[str] = []
    app.on_start(lambda: called.append("start"))
    app.on_stop(lambda: called.append("stop"))
    Fault(fleet.store.nodes, "beat").before()
    with pytest.raises(Unavailable):
        await app.start()
    assert called == ["start", "stop"]


async def test_a_stop_hook_that_fails_keeps_no_other_from_running(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    called: list[str] = []

    async def leak() -> None:
        other = asyncio.ensure_future(asyncio.Event().wait())
        other.cancel()
        await other

    app.on_stop(lambda: called.append("stop"))
    app.on_stop(leak)

    @app.on_stop
    def fail() -> None:
        raise ValueError("oh no")

    async with fleet.running(app):
        pass
    assert called == ["stop"]
    errors = [type(event.error) for event in heard.of(HookFailed)]
    assert errors == [ValueError, asyncio.CancelledError]


async def test_every_role_runs_the_hooks_and_a_script_does_not(fleet: Fleet) -> None:
    for role in (Role.SCHEDULER, Role.WORKER):
        app, called = fleet.app(), list[str]()
        app.on_start(partial(called.append, "start"))
        async with fleet.running(app, roles=[role]):
            assert called == ["start"]
    app, called = fleet.app(), list[str]()
    app.on_start(lambda: called.append("start"))
    async with app.connected():
        assert not called


async def test_a_start_hook_that_comes_too_late_is_refused(fleet: Fleet, app: Drumbeat) -> None:
    called: list[str] = []
    async with fleet.running(app):
        with pytest.raises(InvalidHook, match="comes too late"):
            app.on_start(lambda: None)
        app.on_stop(lambda: called.append("stop"))
    assert called == ["stop"]


def generates() -> Any:
    yield 1


def takes_app(_app: Drumbeat) -> None: ...


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (None, "needs a function, not None"),
        (generates, "is a generator"),
        (takes_app, r"has to take \(\)"),
    ],
)
def test_what_cannot_be_a_process_hook_is_refused(app: Drumbeat, wrong: Any, error: str) -> None:
    for register in (app.on_start, app.on_stop, app.on_child_start):
        with pytest.raises(InvalidHook, match=error):
            register(wrong)


async def test_a_plain_hook_that_returns_a_coroutine_is_told_to_be_asynchronous(
    app: Drumbeat,
) -> None:
    async def connect() -> None: ...

    app.on_start(lambda: connect())
    with pytest.raises(StartHookFailed, match="declare it with async def"):
        await app.start()


def test_a_start_hook_that_fails_ends_a_process_with_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = Drumbeat("memory://", environment={})

    @app.on_start
    def open_pool() -> None:
        raise OSError("no route to postgresql://shop:secret@db/shop")

    with pytest.raises(SystemExit) as ended:
        app.run()
    assert ended.value.code == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Error: on_start ")
    assert last.endswith("OSError: no route to postgresql://shop:***@db/shop")
