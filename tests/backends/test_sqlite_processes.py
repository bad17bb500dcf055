"""Several real processes on one SQLite file, some of them killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from drumbeat.backends.sqlite.connection.hints.peer_folder import PeerFolder
from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import JobSpec, Status

from .sqlite_child import TTL
from .sqlite_wholeness import check_whole

CHILD = Path(__file__).with_name("sqlite_child.py")


class Child:
    """A process that says lines of JSON."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self) -> list[Any]:
        """Kill it at once; what it had said and nobody had heard."""
        self.process.kill()
        assert self.process.stdout is not None
        left = self.process.stdout.read()
        self.process.wait()
        return [json.loads(line) for line in left.splitlines(keepends=True) if line[-1] == "\n"]


@contextmanager
def child(mode: str, path: Path, name: str = "child:1") -> Generator[Child]:
    process = subprocess.Popen(
        [sys.executable, str(CHILD), mode, str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Child(process)
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, SystemClock())
    await store.open()
    yield store
    await store.close()
    check_whole(path)


async def test_two_processes_claim_each_job_once(store: SqliteStore, path: Path) -> None:
    jobs = [verdict.job.id for verdict in await store.jobs.insert([JobSpec("send")] * 2_000)]
    with child("take", path, "one:1") as one, child("take", path, "two:2") as two:
        for word in ("ready", "begun"):
            for each in (one, two):
                assert each.hear() == word
            for each in (one, two):
                each.tell()
        taken = [each.hear() for each in (one, two)]
    assert sorted(taken[0] + taken[1]) == jobs
    assert await store.jobs.counts() == {"default": {Status.COMPLETED: 2_000}}


async def test_a_process_killed_amid_its_commits_leaves_nothing_half_written(
    store: SqliteStore, path: Path
) -> None:
    for heard in (1, 3, 10, 25):
        with child("churn", path) as worker:
            said = [worker.hear() for _ in range(heard)]
            said += worker.kill()
        check_whole(path)
        ids = [JobId(number) for batch in said for number in batch]
        assert all(job is not None for job in await store.jobs.get(ids)), "acknowledged, so there"
    held = await store.jobs.held(NodeId("child:1"))
    assert len(await store.jobs.lost(1_000)) == len(held)


async def test_a_hint_comes_from_another_process(store: SqliteStore, path: Path) -> None:
    with child("hear", path) as listener:
        assert listener.hear() == "ready"
        assert len(list(path.with_name("drumbeat.db-peers").iterdir())) == 1
        await store.jobs.insert([JobSpec("send")])
        assert listener.hear() == "heard"


async def test_the_socket_of_a_killed_process_is_cleared_away(
    store: SqliteStore, path: Path
) -> None:
    peers = path.with_name("drumbeat.db-peers")
    with child("hear", path) as listener:
        assert listener.hear() == "ready"
        listener.kill()
    assert len(list(peers.iterdir())) == 1
    await store.jobs.insert([JobSpec("send")])
    assert list(peers.iterdir()) == []


def test_a_folder_that_is_not_ours_alone_is_not_used(path: Path) -> None:
    open_to_all = path.with_name("drumbeat.db-peers")
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    folder = PeerFolder(path)
    with pytest.raises(PermissionError):
        folder.make()
    assert folder.peers() == []
    folder.close()


async def test_a_lease_of_a_killed_process_passes_to_those_who_wait(path: Path) -> None:
    clock = SystemClock()
    coordinator = SqliteCoordinator(path, clock)
    await coordinator.open()

    async def acquire() -> Lease | None:
        return await coordinator.leases.acquire("scheduler", NodeId("b:2"), timedelta(1))

    with child("lead", path) as leader:
        token, since = leader.hear()
        lease = await acquire()
        assert lease is None or clock.elapsed() - since >= TTL.total_seconds()
        leader.kill()
    if lease is None:
        async for _ in coordinator.leases.vacancies("scheduler"):
            if (lease := await acquire()) is not None:
                break
    assert lease is not None
    assert clock.elapsed() - since >= TTL.total_seconds()
    assert lease.token > token
    await coordinator.close()
