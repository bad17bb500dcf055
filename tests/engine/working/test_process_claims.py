"""Which jobs a node claims for its processes, with real children: only those that can start."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from drumbeat import Drumbeat, Job, Retry, Status, Task
from drumbeat.model.events import AttemptStarted
from drumbeat.model.fleet.node import Role
from drumbeat.testing import FakeClock, inside
from tests.engine.executing.test_processes import touched, until
from tests.engine.support import process_handlers as handlers
from tests.engine.support.fleet import PATIENCE, Fleet, Heard

WORKER = (Role.WORKER,)


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children are given this process's path, and find the handlers by their module's name."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[1]), *sys.path])


@pytest.fixture
async def fleet() -> Fleet:
    return Fleet(FakeClock(patience=0.01))  # children are waited for by what they do


def dead(process: int) -> bool:
    """Whether the child is dead. Nobody has asked for its exit code so far."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


class Holding:
    """Jobs that run until they are released, and leave a file when they begin."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.release = folder / "release"
        self.jobs: list[Job] = []

    async def submit(self, task: Task[[str, str], None], count: int) -> None:
        for number in range(count):
            started = str(self._folder / f"started-{number}")
            self.jobs.append(await task.submit(started, str(self.release)))

    @property
    def begun(self) -> int:
        return len(list(self._folder.glob("started-*")))

    async def done(self, app: Drumbeat) -> Counter[Status]:
        async with asyncio.timeout(PATIENCE):
            return Counter([(await app.jobs.wait(job.id)).status for job in self.jobs])

    async def statuses(self, app: Drumbeat) -> Counter[Status]:
        return Counter([(await app.jobs.get(job.id)).status for job in self.jobs])


async def test_each_node_claims_as_many_as_it_has_processes(fleet: Fleet, tmp_path: Path) -> None:
    apps = [fleet.app(processes=1), fleet.app(processes=1)]
    heard = [Heard(app) for app in apps]
    holds = [app.task(process=True)(handlers.hold) for app in apps]
    holding = Holding(tmp_path)
    async with fleet.running(*apps, roles=WORKER):
        await holding.submit(holds[0], 20)
        await until(lambda: holding.begun == 2)
        assert await holding.statuses(apps[0]) == {Status.RUNNING: 2, Status.QUEUED: 18}
        assert [len(each.of(AttemptStarted)) for each in heard] == [1, 1]
        holding.release.touch()
        assert await holding.done(apps[0]) == {Status.COMPLETED: 20}


async def test_an_asynchronous_job_overtakes_jobs_that_wait_for_a_process(
    fleet: Fleet, tmp_path: Path
) -> None:
    app = fleet.app(concurrency=4, processes=1)
    hold = app.task(process=True)(handlers.hold)

    @app.task
    async def quick() -> None: ...

    holding = Holding(tmp_path)
    async with fleet.running(app, roles=WORKER):
        await holding.submit(hold, 8)
        await until(lambda: holding.begun == 1)
        job = await quick.submit()
        await fleet.clock.settle()
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED
        holding.release.touch()
        assert await holding.done(app) == {Status.COMPLETED: 8}


async def test_a_node_that_is_killed_fails_only_the_jobs_that_it_had_begun(
    fleet: Fleet, tmp_path: Path
) -> None:
    one, two = fleet.app(processes=1), fleet.app(processes=1)
    holds = [app.task(process=True, retry=Retry.never())(handlers.hold) for app in (one, two)]
    holding = Holding(tmp_path)
    await one.start(WORKER)
    await holding.submit(holds[0], 6)
    await until(lambda: holding.begun == 1)
    node = inside.node(one)
    assert node is not None
    await node.crash()
    holding.release.touch()
    async with fleet.running(two):
        await fleet.clock.advance("1m")
        assert await holding.done(two) == {Status.FAILED: 1, Status.COMPLETED: 5}


async def test_a_node_that_was_told_to_stop_begins_no_other_job(
    fleet: Fleet, tmp_path: Path
) -> None:
    app = fleet.app(processes=1)
    hold = app.task(process=True, retry=Retry.never())(handlers.hold)
    holding = Holding(tmp_path)
    async with fleet.running(app, roles=WORKER):
        await holding.submit(hold, 6)
        await until(lambda: holding.begun == 1)
        stopping = asyncio.ensure_future(app.stop(600.0))
        holding.release.touch()
        async with asyncio.timeout(PATIENCE):
            await stopping
        assert holding.begun == 1
        assert await holding.statuses(app) == {Status.COMPLETED: 1, Status.QUEUED: 5}


async def test_a_time_out_does_not_count_the_import_of_the_handler(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would kill the child, and the next would have to import it all again."""
    module = tmp_path / "slow_to_import.py"
    module.write_text(SLOW_TO_IMPORT, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("SLOW_TO_IMPORT", str(tmp_path))
    (tmp_path / "go").touch()
    slow_to_import = importlib.import_module("slow_to_import")
    (tmp_path / "importing").unlink()
    (tmp_path / "go").unlink()
    app = fleet.app(processes=1)
    heard = Heard(app)
    work = app.task(process=True, timeout=2, retry=Retry.never())(slow_to_import.work)
    async with fleet.running(app, roles=WORKER):
        job = await work.submit()
        await touched(tmp_path / "importing")
        await fleet.clock.advance(4)
        assert heard.of(AttemptStarted) == []
        (tmp_path / "go").touch()
        async with asyncio.timeout(PATIENCE):
            done = await app.jobs.wait(job.id)
        assert (done.status, done.attempt) == (Status.COMPLETED, 1)
    del sys.modules["slow_to_import"]


async def test_a_child_that_died_while_it_was_idle_costs_no_attempt(fleet: Fleet) -> None:
    app = fleet.app(processes=1)
    add = app.task(process=True, retry=Retry.never())(handlers.add)
    async with fleet.running(app, roles=WORKER), asyncio.timeout(PATIENCE):
        first = await app.jobs.wait((await add.submit(1, 1)).id)
        process: int = add.result(first)["pid"]
        os.kill(process, signal.SIGKILL)
        await until(lambda: dead(process))
        second = await app.jobs.wait((await add.submit(1, 1)).id)
        assert (second.status, second.attempt) == (Status.COMPLETED, 1)


SLOW_TO_IMPORT = """
import os, pathlib, threading
folder = pathlib.Path(os.environ["SLOW_TO_IMPORT"])
(folder / "importing").touch()
while not (folder / "go").exists():
    threading.Event().wait(0.01)

def work() -> None: ...
"""
