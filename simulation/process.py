"""A simulated process: the real app on a simulated machine, from its start to its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, Unpack

from drumbeat.app import Drumbeat
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.memory.store.witnesses import MemoryWitness
from drumbeat.backends.sqlite.connection.witness_file import FileWitness
from drumbeat.config import Settings
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.lock import Lock
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.scheduled import PolicySettings
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.triggers import cron, every
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.store import Store
from drumbeat.testing import inside
from simulation.clock import ProcessClock
from simulation.faulty_coordinator import FaultyCoordinator
from simulation.loop import Lane, VirtualLoop
from simulation.network import Network, Sender, Server
from simulation.randomness import Random
from simulation.remote_backends import Connection, RemoteCoordinator, RemoteStore
from simulation.runtime import ProcessRuntime
from simulation.sqlite import SqliteFile
from simulation.threads import VirtualThreads

if TYPE_CHECKING:
    from simulation.faulty_queue import FaultyQueue

LEASE_TTL = 3.0
HEARTBEAT = 1.0
LIFETIME = 5.0
ZONE = "Europe/Paris"
GAP = "gap"
"""The schedule whose time lies in the hour that daylight saving skips."""
RETRY = Retry.linear(2, 0.5)


Handle: TypeAlias = Callable[[Context, str], Awaitable[str]]


@dataclass(eq=False, slots=True)
class Machine:
    """A computer, whose clocks outlive its processes."""

    name: str
    clock: ProcessClock
    starts: int = 0


@dataclass(frozen=True, slots=True)
class Environment:
    """What all processes of a world share."""

    loop: VirtualLoop
    network: Network
    store: MemoryStore
    coordinator: FaultyCoordinator
    store_server: Server
    coordinator_server: Server
    separate_stores: bool = False
    """Whether each process has its own store (the in-process mode)."""
    file: SqliteFile | None = None
    """The file of a SQLite world, which each process opens itself."""
    queue: FaultyQueue | None = None
    """The queue in front of the store; None: the store is the queue."""
    threads: int | None = None
    """How many synchronous handlers run at once, if they have separate slots."""


class Process:
    """One start of an app. Killing it drops its memory."""

    def __init__(self, machine: Machine, environment: Environment, random: Random) -> None:
        machine.starts += 1
        self.machine = machine
        self.name = f"{machine.name}.{machine.starts}"
        self.lane = Lane(self.name, self)
        self.runtime = ProcessRuntime(environment.loop, self.lane, machine.clock, random)
        self._loop = environment.loop
        sender = Sender(self.name, machine.name, self.lane)
        self._file = environment.file
        store: Store = environment.store
        coordinator: Coordinator = environment.coordinator
        store_server, coordinator_server = environment.store_server, environment.coordinator_server
        if self._file is not None:
            store, coordinator = self._file.store(self.name), self._file.coordinator(self.name)
            store_server = self._thread_of(store_server)
            coordinator_server = self._thread_of(coordinator_server)
        self._store = RemoteStore(Connection(environment.network, sender, store_server), store)
        self._coordinator = RemoteCoordinator(
            Connection(environment.network, sender, coordinator_server), coordinator
        )
        queue = environment.queue
        self.app = Drumbeat(
            "memory://" if environment.separate_stores else self._store,
            queue=queue and queue.seen_by(Connection(environment.network, sender, queue.server)),
            coordinator=self._coordinator,
            runtime=self.runtime,
            environment={},
            **_settings(machine.name, environment.threads),
        )
        self.seen: object = None
        """The last observed state of its elector."""
        self.lock: Lock | None = None
        """The lock under which it works."""

    @property
    def alive(self) -> bool:
        return not self.lane.dead

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes of its main loop and of its threads."""
        return (self.lane, *self.runtime.isolated)

    @property
    def elector(self) -> LeaderElector | None:
        """Its elector, once the node runs."""
        node = inside.node(self.app)
        return None if node is None else node._parts.elector  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the checks need its private beliefs

    @property
    def witness_sessions(self) -> list[MemoryWitness | FileWitness]:
        """The sessions of its witness, the last one last."""
        witnesses = self._store.witnesses
        return [] if witnesses is None else witnesses.sessions

    async def start(self) -> None:
        """Start the node; its synchronous handlers run in lanes in place of threads."""
        await self.app.start()
        node = inside.node(self.app)
        assert node is not None
        inside.use_threads(node, VirtualThreads(self._loop, self.runtime))

    def kill(self) -> None:
        """End it at once, as `kill -9` does."""
        for lane in self.lanes:
            self._loop.kill(lane)
        self._store.unsubscribe_all()
        if self._file is not None:
            self._file.drop(self.name)

    def _thread_of(self, server: Server) -> Server:
        """A server that is part of this process: paused and killed with it."""
        return Server(server.name, self.runtime.new_lane(server.name), server.clock)


def _settings(name: str, threads: int | None) -> Settings:
    settings = Settings(
        instance_id=name,
        lease_ttl=LEASE_TTL,
        retry_interval=1.0,
        heartbeat_every=HEARTBEAT,
        node_lifetime=LIFETIME,
        concurrency=3,
        processes=1,
    )
    if threads is not None:
        settings["threads"] = threads
    return settings


def declare(app: Drumbeat, handle: Handle, release: int = 0) -> None:
    """The tasks and schedules that every process of a world declares.

    Some schedules differ between the releases of the code.
    """

    @app.task(name="work", retry=RETRY, timeout=10.0)
    async def work(ctx: Context, payload: str) -> str:
        return await handle(ctx, payload)

    @app.task(name="toil", retry=RETRY, timeout=10.0)
    def toil(ctx: Context, payload: str) -> Awaitable[str]:
        return handle(ctx, payload)  # the virtual thread runs the coroutine to its end

    def schedule(name: str, when: Trigger, **policies: Unpack[PolicySettings]) -> None:
        app.schedule(work, when, name=name, kwargs={"payload": name}, **policies)

    app.schedule(toil, every(seconds=6), name="thread", kwargs={"payload": "thread"})

    schedule("often", every(seconds=3 + release % 3), overlap="allow", misfire="all")
    schedule("single", every(seconds=5), overlap="skip")
    schedule("patient", every(seconds=7), overlap="queue_one", misfire="skip")
    schedule("eager", every(seconds=8), overlap="replace", priority=release % 5)
    schedule("leading", every(seconds=9), run_on="leader")
    minutes = "* * * * *" if release % 2 == 0 else "*/2 * * * *"
    schedule("minute", cron(minutes, tz=ZONE), overlap="allow", misfire="all")
    schedule(GAP, cron("30 2 * * *", tz=ZONE), overlap="allow")
