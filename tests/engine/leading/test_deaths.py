"""The deaths of real processes are noticed at once: leases and heartbeats last for minutes here."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from drumbeat import Drumbeat
from drumbeat.engine.plumbing.runtime import SystemClock
from servers import Postgres
from tests.support.postgres_namespace import namespace_in, tell

PROGRAM = Path(__file__).with_name("death_node.py")
PATIENCE = 60.0
"""A fifth of a lease and of a heartbeat: only a witness shows a death within this."""


class Node:
    """A process, and what it has said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def says(self, wanted: str) -> str:
        """Wait for a line that begins so."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while line := (await self._process.stdout.readline()).decode().strip():
                if line.startswith(wanted):
                    return line
        raise AssertionError(f"it ended without saying {wanted!r}")

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


class Fleet:
    """Processes on one store."""

    def __init__(self, store: str, namespace: str, stack: AsyncExitStack) -> None:
        self.store = store
        self.namespace = namespace
        self._stack = stack
        self._serial = 0

    async def start(self, *roles: str) -> Node:
        self._serial += 1
        label = f"node-{self._serial}"
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            PROGRAM,
            self.store,
            self.namespace,
            label,
            *(roles or ("scheduler", "worker")),
            stdout=asyncio.subprocess.PIPE,
        )
        node = Node(process)
        self._stack.push_async_callback(node.kill)
        await node.says("started")
        return node

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Drumbeat]:
        app = Drumbeat(self.store, environment={}, namespace=self.namespace)
        async with app.connected():
            yield app


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'drumbeat.db'}", "drumbeat"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    with namespace_in(postgres.address) as namespace:
        yield postgres.address, namespace


@pytest.fixture
async def fleet(where: tuple[str, str]) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as stack:
        yield Fleet(*where, stack)


async def test_a_killed_leader_is_followed_at_once(fleet: Fleet) -> None:
    leader = await fleet.start()
    await leader.says("leads")
    follower = await fleet.start()
    await leader.kill()
    await follower.says("evicts")
    await follower.says("leads")


async def test_a_lone_node_that_was_killed_leads_at_once_when_it_is_started_again(
    fleet: Fleet,
) -> None:
    before = await fleet.start()
    await before.says("leads")
    await before.kill()
    after = await fleet.start()
    await after.says("leads")


async def test_the_job_of_a_killed_worker_runs_elsewhere_at_once(fleet: Fleet) -> None:
    leader = await fleet.start("scheduler")
    await leader.says("leads")
    worker = await fleet.start("worker")
    async with fleet.client() as client:

        @client.task(name="stay")
        async def stay() -> None:
            """Only its name is used here."""

        job = await stay.submit()
        await worker.says("runs")
        other = await fleet.start("worker")
        await worker.kill()
        await other.says("runs")
        attempts = (await client.jobs.get(job.id)).attempt
    assert attempts == 2


async def test_a_paused_leader_is_not_evicted_until_it_dies(fleet: Fleet) -> None:
    leader = await fleet.start()
    await leader.says("leads")
    follower = await fleet.start()
    leader.send(signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(4.0):  # several times as long as a dead one is waited for
            await follower.says("leads")
    await leader.kill()
    await follower.says("leads")


async def test_a_leader_whose_witness_file_is_deleted_gives_its_term_up(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        path = tmp_path / "drumbeat.db"
        fleet = Fleet(f"sqlite:///{path}", "drumbeat", stack)
        leader = await fleet.start()
        await leader.says("leads")
        path.with_name("drumbeat.db-witnesses").unlink()
        assert "its witness in the store was lost" in await leader.says("lost")
        await leader.says("leads")


def end_sessions(server: Postgres) -> None:
    tell(
        server.address,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name LIKE 'drumbeat%' AND pid <> pg_backend_pid()",
    )


def restart(server: Postgres) -> None:
    server.stop()
    server.start_again()


def crash(server: Postgres) -> None:
    server.kill()
    server.start_again()


@pytest.mark.parametrize("bad_day", [end_sessions, restart, crash])
async def test_when_all_sessions_of_postgresql_end_at_once_nobody_is_found_dead(
    bad_day: Callable[[Postgres], None],
) -> None:
    async with AsyncExitStack() as stack:
        server = stack.enter_context(Postgres.start())
        fleet = Fleet(server.address, "drumbeat", stack)
        nodes = [await fleet.start() for _ in range(3)]
        await asyncio.to_thread(bad_day, server)
        await SystemClock().sleep(8.0)  # longer than everybody waits when many are gone
        async with fleet.client() as client:
            assert [each.alive for each in await client.nodes()] == [True] * len(nodes)
