"""Elections off: every instance runs its own ticks; locks and configuration stay the fleet's."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from drumbeat import Drumbeat, LockHeld
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.events import ElectionOff
from servers import Consul, Etcd, GivenMongo, Mongo, Postgres, Redis

PROGRAM = Path(__file__).with_name("contender.py")
PATIENCE = 60.0

AnyServer: TypeAlias = Etcd | Consul | GivenMongo | Mongo | Redis | Postgres
Make: TypeAlias = Callable[[], Drumbeat]


@pytest.fixture
def namespace() -> str:
    return f"test_{SystemRuntime().random.getrandbits(64):x}"


@pytest.fixture(params=["etcd", "consul", "mongo", "redis", "postgres"])
def server(request: pytest.FixtureRequest) -> str:
    started: Etcd | Consul | GivenMongo | Mongo | Redis | Postgres = request.getfixturevalue(
        request.param
    )
    return started.address


def with_coordinator(address: str, namespace: str) -> Make:
    return lambda: Drumbeat(
        "memory://",
        coordinator=address,
        leader_election=False,
        namespace=namespace,
        environment={},
    )


@asynccontextmanager
async def three(make: Make) -> AsyncGenerator[Sequence[Drumbeat]]:
    apps = [make() for _ in range(3)]
    async with AsyncExitStack() as running, asyncio.timeout(PATIENCE):
        for app in apps:
            await running.enter_async_context(app.running())
        yield apps


async def takes(app: Drumbeat, held: AsyncExitStack, wait: str = "0s") -> bool:
    try:
        await held.enter_async_context(app.lock("deploy", ttl=10, wait=wait))
    except LockHeld:
        return False
    return True


async def check(make: Make) -> None:
    """One of three gets the lock, and what one writes another sees."""
    async with three(make) as apps:
        async with AsyncExitStack() as held:
            # A Redis that was just started grants nothing until a TTL has passed.
            assert await takes(apps[0], held, wait="50s")
            assert [await takes(app, held) for app in apps] == [False, False, False]
        async with AsyncExitStack() as held:
            assert await takes(apps[2], held)
        seen = asyncio.create_task(_sees(apps[1], b"green"))
        await apps[0].config.put("colour", b"green")
        await seen


async def _sees(app: Drumbeat, wanted: bytes) -> None:
    async for entry in app.config.watch("colour"):
        if entry is not None and entry.value == wanted:
            return


async def test_three_instances_share_the_locks_of_a_server(server: str, namespace: str) -> None:
    await check(with_coordinator(server, namespace))


async def test_three_instances_share_the_locks_of_a_coordinators_file(tmp_path: Path) -> None:
    await check(with_coordinator(f"sqlite:///{tmp_path}/locks.db", "drumbeat"))


@pytest.mark.parametrize("settings", [{"leader_election": False}, {"coordinator": "none"}])
async def test_three_instances_share_the_locks_of_their_store(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    await check(
        lambda: Drumbeat(f"sqlite:///{tmp_path}/store.db", environment={}, **settings)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - either setting
    )


async def test_a_store_in_memory_alone_has_locks_of_this_process_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Drumbeat("memory://", coordinator="none", environment={})
    told: list[ElectionOff] = []
    app.on(ElectionOff)(told.append)
    async with app.running(), app.lock("deploy"):
        with pytest.raises(LockHeld):  # also two tasks of one process exclude each other
            async with app.lock("deploy"):
                pytest.fail("two hold one lock")
    ((off,), line) = told, _warning(caplog)
    assert (off.runs_everywhere, off.local_locks) == (True, True)
    assert line["locks"] == "this process only"


async def test_a_shared_store_is_said_to_run_each_tick_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = Drumbeat(f"sqlite:///{tmp_path}/store.db", leader_election=False, environment={})
    async with app.running():
        pass
    assert "on the shared store each tick still runs once" in caplog.text
    assert _warning(caplog)["locks"] == "the whole fleet"


def _warning(caplog: pytest.LogCaptureFixture) -> dict[str, object]:
    (record,) = [
        each for each in caplog.records if each.getMessage().startswith("Leader election is off")
    ]
    return {**record.__dict__["facts"]}


async def test_ticks_go_on_while_the_coordinator_of_the_locks_is_away() -> None:
    """Nobody has to be asked who leads, so an outage of etcd costs locks and no ticks."""
    ticked = asyncio.Event()
    app = Drumbeat(
        "memory://", coordinator="etcd://127.0.0.1:9", leader_election=False, environment={}
    )

    @app.scheduled("* * * * * *")
    async def work() -> None:
        ticked.set()

    async with asyncio.timeout(PATIENCE), app.running():
        await ticked.wait()


class Process:
    """One instance in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def hears(self) -> str:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        return line.decode().strip()

    async def asked(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()
        return await self.hears()


@asynccontextmanager
async def processes(**environment: str) -> AsyncGenerator[Sequence[Process]]:
    started: list[Process] = []
    try:
        for _ in range(3):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(PROGRAM),
                env={**os.environ, **environment},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            started.append(Process(process))
        async with asyncio.timeout(PATIENCE):
            for each in started:
                assert await each.hears() == "ready"
            yield started
    finally:
        for each in started:
            each.process.kill()
            await each.process.wait()


async def test_three_processes_share_locks_at_etcd(etcd: Etcd, namespace: str) -> None:
    """Each instance runs its own tasks, and each task takes its lock at etcd."""
    async with processes(
        LEADER_ELECTION_ENABLED="false",
        DRUMBEAT_NAMESPACE=namespace,
        ETCD_CONN_STR=etcd.address.removeprefix("etcd://"),
    ) as (first, second, third):
        answers = await asyncio.gather(*(each.asked("lock") for each in (first, second, third)))
        assert sorted(answers) == ["held", "refused", "refused"]
        holder = (first, second, third)[answers.index("held")]
        assert await holder.asked("unlock") == "released"
        assert await third.asked("lock") == "held"
        assert await first.asked("put green") == "written"
        assert await second.asked("watch green") == "saw green"
