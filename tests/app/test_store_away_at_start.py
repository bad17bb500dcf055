"""Starting while the store is away: wait for it, or end with one sentence."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drumbeat import Drumbeat, Unavailable
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import StoreAwaited
from drumbeat.testing import FakeClock, FakeRuntime
from servers import Postgres
from servers.faultproxy import FaultProxy
from servers.ports import free_port
from tests.support.processes import PATIENCE, Node

HERE = Path(__file__).parent
SCRIPT = [sys.executable, str(HERE / "started_away.py")]
COMMAND = [sys.executable, "-m", "drumbeat"]
PASSWORD = "hunter2"

Start = Callable[..., Node]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a process on a store; its output and its errors are one."""
    nodes: list[Node] = []

    def started(command: list[str], store: str, wait: str = "10m") -> Node:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        process = subprocess.Popen(
            command,
            cwd=HERE,
            env={**kept, "DRUMBEAT_STORE": store, "DRUMBEAT_STORE_WAIT": wait},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        nodes.append(Node(process))
        return nodes[-1]

    yield started
    for node in nodes:
        if node.process.poll() is None:
            node.process.kill()
        node.process.wait()
        node.reading.join(PATIENCE)


def said_by(node: Node) -> list[str]:
    """All that a process has said, once it has ended."""
    node.ended()
    node.reading.join(PATIENCE)
    while (line := node.lines.get(timeout=PATIENCE)) is not None:
        node.seen.append(line)
    return node.seen


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[FaultProxy]:
    proxy = FaultProxy.start(postgres.port)
    yield proxy
    proxy.close()


def address(port: int, database: str = "postgres") -> str:
    return f"postgresql://postgres:{PASSWORD}@127.0.0.1:{port}/{database}"


FORMS = [
    SCRIPT,
    [*COMMAND, "run", "started_away:app"],
    [*COMMAND, "worker", "started_away:app"],
    [*COMMAND, "scheduler", "started_away:app"],
    [*COMMAND, "api", "started_away:app", "--http-addr", "127.0.0.1:0"],
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[-1] if form == SCRIPT else form[3])
def test_a_process_starts_as_soon_as_its_store_answers(
    form: list[str], start: Start, proxy: FaultProxy
) -> None:
    proxy.reset()
    node = start(form, address(proxy.port))
    node.says(f"Waiting for the store postgresql://postgres:***@127.0.0.1:{proxy.port}/postgres")
    proxy.heal()
    node.says("started successfully")
    node.signal(signal.SIGTERM)
    said = "".join(said_by(node))
    assert node.process.returncode == 0
    assert "Traceback" not in said
    assert PASSWORD not in said


def test_a_server_that_swallows_connections_is_waited_for_too(
    start: Start, proxy: FaultProxy
) -> None:
    proxy.stall("to_server")
    node = start(SCRIPT, address(proxy.port))
    node.says("Waiting for the store")
    proxy.heal()
    node.says("started successfully")


@pytest.mark.parametrize("form", FORMS[:2], ids=["script", "command"])
def test_a_process_gives_up_with_one_sentence_and_the_exit_code_5(
    form: list[str], start: Start
) -> None:
    node = start(form, address(free_port()), wait="100ms")
    last = [line for line in said_by(node) if "Waiting for the store" not in line]
    assert len(last) == 1
    assert last[0].startswith("Error: gave up after waiting 0.1 s for the store: PostgreSQL at")
    assert node.process.returncode == 5


@pytest.mark.parametrize("form", FORMS[:2], ids=["script", "command"])
def test_a_wait_of_zero_does_not_wait(form: list[str], start: Start) -> None:
    node = start(form, address(free_port()), wait="0")
    (only,) = said_by(node)
    assert only.startswith("Error: PostgreSQL at 127.0.0.1")
    assert node.process.returncode == 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("form", FORMS[:2], ids=["script", "command"])
def test_a_signal_ends_the_wait_at_once_and_with_success(
    form: list[str], number: signal.Signals, start: Start
) -> None:
    node = start(form, address(free_port()))
    node.says("Waiting for the store")
    node.signal(number)
    said = said_by(node)
    assert node.process.returncode == 0
    assert all("Waiting for the store" in line for line in said)


def test_what_only_a_person_can_repair_is_not_waited_for(
    start: Start, postgres: Postgres, tmp_path: Path
) -> None:
    unknown = start(SCRIPT, address(postgres.port, "nowhere"))
    missing = start(SCRIPT, f"sqlite:///{tmp_path / 'missing' / 'x.db'}")
    damaged = tmp_path / "text.db"
    damaged.write_text("this is not a database" * 100, encoding="utf-8")
    no_database = start(SCRIPT, f"sqlite:///{damaged}")
    for node, sentence in (
        (unknown, "there is no such database"),
        (missing, "does not exist"),
        (no_database, "is not a SQLite file"),
    ):
        (only,) = said_by(node)
        assert only.startswith("Error: ")
        assert sentence in only
        assert node.process.returncode == 2


def test_a_command_that_asks_once_does_not_wait(start: Start) -> None:
    node = start([*COMMAND, "job", "list"], address(free_port()))
    (only,) = said_by(node)
    assert only.startswith("Error: PostgreSQL at 127.0.0.1")
    assert node.process.returncode == 5


class Away(MemoryStore):
    """A store that does not answer the first so many times."""

    failures = 0
    error: Exception = Unavailable("the store is not available")

    async def open(self) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise self.error
        await super().open()


def app_on(clock: FakeClock, failures: int) -> tuple[Drumbeat, Away, list[StoreAwaited]]:
    store = Away(clock)
    store.failures = failures
    app = Drumbeat(store, runtime=FakeRuntime(clock), environment={})
    told: list[StoreAwaited] = []
    app.on(StoreAwaited)(told.append)
    return app, store, told


async def test_start_from_code_raises_at_once_and_can_be_called_again(
    drumbeat_clock: FakeClock,
) -> None:
    app, store, told = app_on(drumbeat_clock, 1)
    with pytest.raises(Unavailable, match="the store is not available"):
        await app.start(["worker"])
    assert (told, store.failures) == ([], 0)
    await app.start(["worker"])
    await app.stop(0)


async def test_start_from_code_waits_if_it_is_asked_to(drumbeat_clock: FakeClock) -> None:
    app, _, told = app_on(drumbeat_clock, 20)
    starting = asyncio.create_task(app.start(["worker"], wait="10m"))
    await drumbeat_clock.advance(120)
    await starting
    assert [event.failures for event in told] == [*range(1, 21)]
    assert all(0.25 <= event.next_try <= 5 for event in told)
    await app.stop(0)


async def test_start_from_code_gives_up_when_the_time_is_over(
    drumbeat_clock: FakeClock,
) -> None:
    app, _, told = app_on(drumbeat_clock, 10**6)
    starting = asyncio.create_task(app.start(["worker"], wait=30))
    await drumbeat_clock.advance(31)
    with pytest.raises(Unavailable, match="gave up after waiting 30 s for the store"):
        await starting
    assert sum(event.next_try for event in told) == pytest.approx(30)


async def test_a_wrong_setting_is_not_waited_for(drumbeat_clock: FakeClock) -> None:
    app, store, told = app_on(drumbeat_clock, 1)
    store.error = ConfigurationError("the password is wrong")
    with pytest.raises(ConfigurationError, match="the password is wrong"):
        await app.start(["worker"], wait=30)
    assert told == []


async def test_a_long_wait_makes_few_lines(
    drumbeat_clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="drumbeat")
    app, _, told = app_on(drumbeat_clock, 10**6)
    starting = asyncio.create_task(app.start(["worker"], wait="1h"))
    await drumbeat_clock.advance(3_601)
    with pytest.raises(Unavailable):
        await starting
    lines = [line for line in caplog.messages if line.startswith("Waiting for the store")]
    assert len(told) > 700
    assert len(lines) == len(told).bit_length()
