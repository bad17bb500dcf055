"""The app in code without an event loop: `app.sync`, and a node in a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from drumbeat import Drumbeat, JobFilter, Status, Task
from drumbeat.engine.jobs import Jobs
from drumbeat.engine.operations import Operations
from drumbeat.engine.schedules import Schedules
from drumbeat.model.errors import (
    InvalidInput,
    LockHeld,
    LockLost,
    NotRunning,
    Unavailable,
    WaitTimeout,
)
from drumbeat.ports.coordinator import Configuration
from drumbeat.wiring.blocking_app import (
    BlockingConfiguration,
    BlockingJobs,
    BlockingOperations,
    BlockingSchedules,
)

SOON = "60s"
ASYNCHRONOUS_ONLY = {"declare", "declare_waiting", "written", "guarded"}
"""What only the engine calls."""


@pytest.fixture(params=["memory", "sqlite"])
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Drumbeat]:
    store = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    app = Drumbeat(store, environment={}, lease_ttl="4s")
    yield app
    app.stop_in_background(0)
    asyncio.run(app.stop())


@pytest.fixture
def add(app: Drumbeat) -> Task[[int, int], int]:
    @app.task
    def add(left: int, right: int) -> int:
        return left + right

    return add


@pytest.mark.parametrize(
    ("blocking", "asynchronous"),
    [
        (BlockingJobs, Jobs),
        (BlockingSchedules, Schedules),
        (BlockingOperations, Operations),
        (BlockingConfiguration, Configuration),
    ],
)
def test_every_operation_has_a_blocking_form_of_the_same_name(
    blocking: type, asynchronous: type
) -> None:
    def public(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}

    assert public(blocking) == public(asynchronous) - ASYNCHRONOUS_ONLY


class TestWithoutANode:
    def test_everything_works_before_any_start(
        self, app: Drumbeat, add: Task[[int, int], int]
    ) -> None:
        job = app.sync.jobs.submit("add", (1, 2))
        assert app.sync.jobs.get(job).task == "add"
        assert [each.id for each in app.sync.jobs.list(JobFilter(task="add")).items] == [job.id]
        stored = app.sync.schedules.put("nightly", "0 2 * * *", add, args=[1, 2])
        assert app.sync.schedules.at_version(stored.version).pause("nightly").paused
        assert app.sync.operations.list().items == ()
        assert app.sync.nodes() == []
        app.sync.config.put("colour", b"red")
        assert next(app.sync.config.watch("colour")) == app.sync.config.get("colour")

    def test_a_wait_takes_a_length_as_text(self, app: Drumbeat, add: Task[[int, int], int]) -> None:
        job = add.submit_sync(1, 2)
        waits: list[Callable[[], object]] = [
            lambda: app.sync.jobs.wait(job, "20ms"),
            lambda: app.sync.jobs.result(job.id, "20ms"),
            lambda: app.sync.wait_until_idle("20ms"),
        ]
        for wait in waits:
            with pytest.raises(WaitTimeout, match=r"within 0\.02 s"):
                wait()

    def test_jobs_that_were_made_before_are_submitted_together(
        self, app: Drumbeat, add: Task[[int, int], int]
    ) -> None:
        later = add.options(queue="later")
        jobs = add.submit_many_sync(
            [add.job(1, 2), later.job(3, 4), (5, 6), {"left": 7, "right": 8}]
        )
        assert [job.spec.queue for job in jobs] == ["default", "later", "default", "default"]
        assert len(app.sync.jobs.list().items) == 4

    def test_the_job_of_another_task_is_refused(
        self, app: Drumbeat, add: Task[[int, int], int]
    ) -> None:
        @app.task
        def other() -> None: ...

        with pytest.raises(InvalidInput, match="'other' was given to task 'add'"):
            add.submit_many_sync([other.job()])

    async def test_a_thread_with_an_event_loop_is_told_what_to_await(
        self, app: Drumbeat, add: Task[[int, int], int]
    ) -> None:
        with pytest.raises(NotRunning, match="await the asynchronous form"):
            app.sync.jobs.counts()


class TestALock:
    def test_is_held_by_one_at_a_time_and_free_after_the_body(self, app: Drumbeat) -> None:
        with app.sync.lock("report", ttl="30s") as lock:
            assert lock.held
            with pytest.raises(LockHeld), app.sync.lock("report", wait="10ms"):
                pass
            token = lock.token
        with app.sync.lock("report") as again:
            assert again.token > token

    def test_whose_loop_has_stopped_is_lost(self, app: Drumbeat) -> None:
        app.start_in_background()
        with pytest.raises(LockLost), app.sync.lock("report"):
            app.stop_in_background()


class TestANodeInTheBackground:
    def test_runs_jobs_for_any_number_of_threads(
        self, app: Drumbeat, add: Task[[int, int], int]
    ) -> None:
        def ask(number: int) -> int:
            result: int = app.sync.jobs.result(add.submit_sync(number, 1), SOON)
            return result

        with app.in_background(), ThreadPoolExecutor(20) as threads:
            assert list(threads.map(ask, range(40))) == list(range(1, 41))
            app.sync.wait_until_idle(SOON)
            assert len(app.sync.nodes()) == 1

    def test_starts_again_after_it_was_stopped(
        self, app: Drumbeat, add: Task[[int, int], int]
    ) -> None:
        for number in range(2):
            with app.in_background():
                assert app.sync.jobs.result(add.submit_sync(number, 1), SOON) == number + 1
            assert "drumbeat-node" not in {thread.name for thread in threading.enumerate()}

    def test_is_refused_while_the_app_runs(self, app: Drumbeat) -> None:
        with app.in_background():
            with pytest.raises(NotRunning, match="running already"):
                app.start_in_background()
            with pytest.raises(NotRunning, match="stop_in_background"):
                asyncio.run(app.stop())
            assert len(app.sync.nodes()) == 1

    def test_raises_the_error_of_its_start(self, tmp_path: Path) -> None:
        app = Drumbeat(f"sqlite:///{tmp_path}", environment={})
        with pytest.raises((Unavailable, ValueError, OSError)):
            app.start_in_background()
        with pytest.raises((Unavailable, ValueError, OSError)):  # and not "running already"
            app.start_in_background()

    def test_leaves_signals_alone(self, app: Drumbeat) -> None:
        before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
        with app.in_background():
            assert {each: signal.getsignal(each) for each in before} == before

    def test_is_stopped_when_the_interpreter_exits(self, tmp_path: Path) -> None:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM)
        address = f"sqlite:///{tmp_path}/jobs.db"
        done = subprocess.run(
            [sys.executable, program, address],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "main ends\n", "")
        (job,) = Drumbeat(address, environment={}).sync.jobs.list().items
        assert job.status is Status.COMPLETED


PROGRAM = """
import sys, time, threading
from drumbeat import Drumbeat

app = Drumbeat(sys.argv[1], environment={})
begun = threading.Event()

@app.task
def slow():
    begun.set()
    time.sleep(0.5)

app.start_in_background()
slow.submit_sync()
begun.wait()
print("main ends", flush=True)
"""
