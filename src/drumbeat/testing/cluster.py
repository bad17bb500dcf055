"""The cluster: a whole fleet in one process and in memory, whose nodes a test can kill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Self, Unpack

from drumbeat.app import Drumbeat
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.config import Settings
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import TickRecord
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.gate import Gate, NodeClock, NodeCoordinator, NodeStore
from drumbeat.testing.runtime import FakeRuntime

LOOK_EVERY = 0.05


@dataclass(eq=False, slots=True)
class _Process:
    """One start of a node: its app, and the way between it and the world."""

    number: int
    app: Drumbeat
    gate: Gate
    clock: NodeClock
    runtime: FakeRuntime
    running: bool = False


class Cluster:
    """So many nodes that share a store, a coordinator and a clock.

    ```python
    def declare(app: Drumbeat) -> None:
        @app.scheduled(every(minutes=1))
        async def beat() -> None: ...

    async with Cluster(declare) as cluster:
        await cluster.kill(await cluster.wait_for_leader())
        await cluster.advance("1h")
        rows = await cluster.ticks("beat")
    ```
    `declare` is called for each process, as if each imported the app's module. At its end the
    cluster kills what still runs.
    """

    def __init__(
        self,
        declare: Callable[[Drumbeat], object],
        *,
        nodes: int = 3,
        clock: FakeClock | None = None,
        seed: int = 0,
        **settings: Unpack[Settings],
    ) -> None:
        self.clock = clock or FakeClock()
        """The time of all nodes, of the store and of the coordinator."""
        self._declare = declare
        self._settings = settings
        self._seed = seed
        self._starts = 0
        self._store = MemoryStore(self.clock)
        self._coordinator = MemoryCoordinator(self.clock, f"cluster-{seed}")
        self._processes = [self._process(number) for number in range(1, nodes + 1)]
        self.client = self._client()
        """An app beside the nodes, as a web server would have: submits, and looks at the fleet."""

    async def __aenter__(self) -> Self:
        for process in self._processes:
            await self._run(process)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self._processes:
            await self._kill(process)

    @property
    def nodes(self) -> tuple[Drumbeat, ...]:
        """The app of each node, as last started; also of those that do not run."""
        return tuple(process.app for process in self._processes)

    @property
    def running(self) -> tuple[Drumbeat, ...]:
        """Those that run; a frozen node does."""
        return tuple(process.app for process in self._processes if process.running)

    @property
    def leader(self) -> Drumbeat | None:
        """The node that leads and may act on it; None if none does."""
        return next((app for app in self.running if app.leadership.is_leader), None)

    async def wait_for_leader(self) -> Drumbeat:
        """Move time on until a node leads, and return it."""
        await self.clock.until(self._led(), within="5m")
        leader = self.leader
        assert leader is not None, "it led a moment ago, and no time has passed"
        return leader

    async def advance(self, by: str | float | timedelta) -> None:
        """Move the time of all on, from alarm to alarm."""
        await self.clock.advance(by)

    async def ticks(self, schedule: str) -> list[TickRecord]:
        """The ledger of a schedule, oldest tick first."""
        rows: list[TickRecord] = []
        after: str | None = None
        while True:
            page = await self._store.schedules.ticks(schedule, PageRequest(LARGEST_PAGE, after))
            rows += page.items
            after = page.next
            if after is None:
                return rows[::-1]

    async def kill(self, node: Drumbeat) -> None:
        """End the node as `kill -9` does: nothing is drained, given back or released.

        Its handlers are cancelled; nothing that they still do reaches the store.
        """
        await self._kill(self._find(node))

    async def stop(self, node: Drumbeat, grace: float | None = None) -> None:
        """Stop the node in an orderly way, moving time on only as far as its jobs need."""
        process = self._find(node)
        if process.gate.closed:
            raise ConfigurationError(f"{node.settings.instance_id} is frozen; thaw it to stop it")
        await self.clock.until(node.stop(grace))
        process.running = False

    async def start(self, node: Drumbeat) -> Drumbeat:
        """Start a node that does not run as a new process, and return its new app."""
        old = self._find(node)
        if old.running:
            raise ConfigurationError(f"{node.settings.instance_id} is running already")
        new = self._process(old.number)
        self._processes[self._processes.index(old)] = new
        await self._run(new)
        return new.app

    async def freeze(self, node: Drumbeat, *, before: str | None = None) -> None:
        """Pause the process of a node: it does nothing while time goes on, and does not know.

        With `before`, not now but just before its next call of that name to the store or the
        coordinator, such as "commit": the worst moment for a leader to fall asleep.
        """
        await self.clock.settle()
        self._find(node).gate.close(before=before)

    async def thaw(self, node: Drumbeat) -> None:
        """Let a frozen node go on, and all happen that it missed."""
        self._find(node).gate.open()
        await self.clock.settle()

    def skew(self, node: Drumbeat, by: float | timedelta) -> None:
        """Put the wall clock of one node ahead of the others' or, if negative, behind."""
        skew = by if isinstance(by, timedelta) else timedelta(seconds=by)
        self._find(node).clock.skew = skew

    async def _run(self, process: _Process) -> None:
        await process.app.start()
        process.running = True
        await self.clock.settle()

    async def _kill(self, process: _Process) -> None:
        process.running = False
        process.gate.cut()
        node = inside.node(process.app)
        if node is not None:
            await node.crash()
        await process.runtime.kill()
        process.gate.open()  # what the test itself has asked of the node fails now, and not never

    async def _led(self) -> None:
        while self.leader is None:
            await self.clock.sleep(LOOK_EVERY)

    def _find(self, node: Drumbeat) -> _Process:
        for process in self._processes:
            if process.app is node:
                return process
        raise ConfigurationError(
            f"{node.settings.instance_id} is not a node of this cluster, or was started anew since"
        )

    def _process(self, number: int) -> _Process:
        gate = Gate()
        clock = NodeClock(self.clock, gate)
        runtime = self._runtime(clock)
        store = NodeStore(self._store, gate)
        coordinator = NodeCoordinator(self._coordinator, gate)
        settings: Settings = {**self._settings, "instance_id": f"node-{number}"}
        app = Drumbeat(store, coordinator=coordinator, runtime=runtime, environment={}, **settings)
        self._declare(app)
        return _Process(number, app, gate, clock, runtime)

    def _client(self) -> Drumbeat:
        runtime = self._runtime(self.clock)
        settings: Settings = {**self._settings, "instance_id": "client"}
        app = Drumbeat(
            self._store,
            coordinator=self._coordinator,
            runtime=runtime,
            environment={},
            **settings,
        )
        self._declare(app)
        return app

    def _runtime(self, clock: FakeClock | NodeClock) -> FakeRuntime:
        """With a seed of its own, so that nodes draw different numbers, the same in every run."""
        self._starts += 1
        return FakeRuntime(clock, seed=self._seed * 1_000_003 + self._starts)
