"""A terminal: the real command line over an app in memory, on a clock that stands still."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any, TypeVar

from click.testing import CliRunner

from drumbeat import Drumbeat, Retry, cron
from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.application import Api
from drumbeat.api.http.server import Server
from drumbeat.api.table import TABLE
from drumbeat.cli.main import command
from drumbeat.cli.output.output import Output
from drumbeat.cli.session.session import Session
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.fleet.node import Beat, Node, Role
from drumbeat.model.ids import NodeId
from drumbeat.testing import FakeClock, FakeRuntime, drain, inside, tick

T = TypeVar("T")

ITS_TOKEN = "drum_the-token-of-this-terminal"
TRACEBACK = re.compile(r"Traceback")


@dataclass(frozen=True)
class Answer:
    """What a command said, where, and with which exit code."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Terminal:
    """Runs commands, and lets time pass between them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.app = Drumbeat(
            "memory://", runtime=FakeRuntime(clock), environment={}, api_token=ITS_TOKEN
        )
        declare(self.app)

    def __call__(self, *arguments: str, columns: int = 120) -> Answer:
        output = Output(zone=UTC, clock=self.clock.now)
        session = Session(output=output, make=lambda _: self.app)
        return run(*arguments, session=session, columns=columns)

    def close(self) -> None:
        """Nothing is left to close."""

    def drain(self) -> None:
        self.do(drain(self.app))

    def tick(self, by: str = "0s") -> None:
        async def ticked() -> None:
            await self.clock.advance(by)
            await tick(self.app)

        self.do(ticked())

    def start_a_node(self, busy: int = 0) -> None:
        """Let a node show a sign of life and lead, as one that runs elsewhere would."""

        async def started() -> None:
            node = Node(
                id=NodeId("web-1:00ff"),
                roles=frozenset({Role.SCHEDULER, Role.WORKER}),
                version="1",
                started_at=self.clock.now(),
                slots=100,
                busy=busy,
                queues=("default",),
            )
            await self.app.store.nodes.beat(Beat(node, lifetime=20))
            leases = inside.setup(self.app).backends.coordinator.leases
            assert await leases.acquire(SCHEDULER, node.id, timedelta(seconds=10))

        self.do(started())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)


class RemoteTerminal(Terminal):
    """The same over the same app, which a server in a thread of its own stands before."""

    def __init__(self, clock: FakeClock, folder: Path) -> None:
        super().__init__(clock)
        self._token = folder / "token"
        self._token.write_text(f"{ITS_TOKEN}\n", encoding="utf-8")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._there(self._start())
        self.url = f"http://{self._server.address}"

    def __call__(self, *arguments: str, columns: int = 120) -> Answer:
        output = Output(zone=UTC, clock=self.clock.now)
        session = Session(output=output, server=self.url, token_file=str(self._token))
        return run(*arguments, session=session, columns=columns)

    def close(self) -> None:
        self._there(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> Server:
        fleet = inside.measured_fleet(self.app)
        server = Server(Api(fleet, AccessControl(fleet, local=True), TABLE), "127.0.0.1:0")
        await server.start()
        return server

    def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


def declare(app: Drumbeat) -> None:
    @app.task
    async def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    @app.task(retry=Retry.never())
    async def fail() -> None:
        raise ValueError("no such customer")

    @app.scheduled(cron("0 2 * * *", tz="Europe/Paris"))
    async def nightly() -> None: ...


def run(*arguments: str, session: Session | None = None, columns: int = 120) -> Answer:
    """Run the command line, without an app unless the session has one."""
    runner = CliRunner(env={"COLUMNS": str(columns)})
    result = runner.invoke(command, arguments, obj=session, prog_name="drumbeat")
    assert not TRACEBACK.search(result.stderr), result.stderr
    return Answer(result.exit_code, result.stdout, result.stderr)
