"""The backend factory: makes stores, queues and coordinators from addresses.

Each backend is one row in the tables below, by its title in `config.backends`. It is imported when
it is first used.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

from drumbeat.backends.no_election import EveryoneLeads, NoElection
from drumbeat.backends.store_queue import StoredQueue
from drumbeat.backends.user_elector import ElectedCoordinator
from drumbeat.config import Config, masked
from drumbeat.config.addresses import Addresses
from drumbeat.config.backends import BACKENDS, NONE, fault_of
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.part import Part
from drumbeat.ports.backend_guard import backend_guard
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.elector import Confirming, Elector, LoggingElector
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store, Topic
from drumbeat.rules.leadership.elector_check import require_elector

Backend = TypeVar("Backend")

NO_STORE = (
    "no store is named: give an address such as 'sqlite:///drumbeat.db' in code, "
    "by DRUMBEAT_STORE or by --store"
)
POLL = 1.0
"""Seconds between two polls of a store whose hints may get lost."""


@dataclass(frozen=True, slots=True)
class Backends:
    """The store, the queue and the coordinator of an app."""

    store: Store
    queue: Queue
    coordinator: Coordinator
    """For the main loop: locks, the list of nodes, configuration."""
    connect: Callable[[], Coordinator]
    """A coordinator for the elector, which has a loop and a connection of its own."""
    poll: float | None
    """Seconds between two polls; None: the store's hints always come."""
    ours: tuple[Store | Queue | Coordinator, ...]
    """Backends that were made here, and are closed here; users close their own."""
    private: bool = False
    """Whether the store is in the memory of this process, where no other instance can see it."""
    fleet: bool = False
    """Whether the coordinator is one that several instances can reach."""
    store_appoints: bool = False
    """Whether the store's server is the coordinator too, so that both fail together."""
    confirming: Confirming | None = None
    """Asks the user's elector; None: the coordinator appoints."""
    electing: bool = True
    """False: elections are off, so that every instance leads."""

    @property
    def in_process(self) -> bool:
        """Whether the instances share an election but no store."""
        return self.electing and self.private and (self.fleet or self.confirming is not None)

    @property
    def local_locks(self) -> bool:
        """Whether locks and configuration are visible to this process only."""
        return self.private and not self.fleet

    @property
    def evicts(self) -> bool:
        """Whether others may end the term of a leader: a coordinator appoints, and no user."""
        return self.electing and self.confirming is None

    async def open(self) -> None:
        for backend in (self.store, self.queue, self.coordinator):
            await backend.open()

    async def open_what_answers(self) -> Unavailable | None:
        """Open all backends; return the error of a coordinator that does not answer yet."""
        for backend in (self.store, self.queue):
            await backend.open()
        try:
            await self.coordinator.open()
        except Unavailable as error:
            return error
        return None

    def obeying(self, elector: Elector, clock: Clock) -> Backends:
        """The same backends, with a user's elector in place of an election."""
        require_elector(elector)
        if not self.electing:
            return self
        if isinstance(elector, LoggingElector):
            elector.leave_logging()
        elected = ElectedCoordinator(elector, self.coordinator, self.store.fence, clock)
        return replace(
            self,
            coordinator=elected,
            connect=partial(Borrowed, elected),
            ours=(*self.ours, elected),
            confirming=elected.leases,
        )

    @asynccontextmanager
    async def closed_on_failure(self) -> AsyncGenerator[None]:
        """Close the backends if the body fails, so that a failed start leaves nothing behind."""
        try:
            yield
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the backends that were made here, the store last."""
        for backend in reversed(self.ours):
            await backend.close()


class Borrowed:
    """A coordinator that is shared with the main loop, and closed there."""

    def __init__(self, coordinator: Coordinator) -> None:
        self.open = coordinator.open
        self.leases = coordinator.leases
        self.registry = coordinator.registry
        self.configuration = coordinator.configuration

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BackendContext:
    """An address, and what the backend behind it needs to know."""

    address: str
    config: Config
    runtime: Runtime

    @property
    def path(self) -> str:
        """The path of the file: `sqlite:///name.db` is relative, `sqlite:////name.db` is not."""
        path = urlsplit(self.address).path.removeprefix("/")
        if not path:
            raise ConfigurationError(
                f"{self.address!r} names no file; write it as 'sqlite:///drumbeat.db'"
            )
        return path


Make: TypeAlias = Callable[[BackendContext], Backend]


def connect(addresses: Addresses, config: Config, runtime: Runtime) -> Backends:
    """Build the backends for the addresses; `ConfigurationError` for an unknown address."""
    addresses.check()
    store, coordinator, queue = addresses.store, addresses.coordinator, addresses.queue
    if store is None:
        store = _missing_store(runtime)
    electing = config.leader_election and coordinator != NONE
    if coordinator is None or coordinator == NONE:  # the store coordinates as well
        coordinator = store if isinstance(store, str) else "memory://"
    appointed_by = coordinator
    context = BackendContext("", config, runtime)
    private = isinstance(store, str) and _scheme(store) == "memory"
    fleet = not isinstance(coordinator, str) or _scheme(coordinator) not in IN_PROCESS
    made: list[Store | Queue | Coordinator] = []
    if isinstance(store, str):
        if private and fleet and electing:  # its epochs are the tokens of the fleet's coordinator
            store = _memory_store_for_a_fleet(context)
        else:
            store = _make(Part.STORE, STORES, replace(context, address=store))
        made.append(store)
    connect: Callable[[], Coordinator] | None = None
    if isinstance(coordinator, str):
        connect = _coordinators(replace(context, address=coordinator))
        coordinator = connect()
        made.append(coordinator)
    if queue is None:
        queue = StoredQueue(partial(store.subscribe, Topic.JOBS))
        made.append(queue)
    elif isinstance(queue, str):
        queue = _make(Part.QUEUE, QUEUES, replace(context, address=queue))
        made.append(queue)
    if not electing:
        coordinator, connect = _without_election(coordinator, context)
    elif connect is None or not fleet:
        connect = partial(Borrowed, coordinator)
    return Backends(
        store=store,
        queue=queue,
        coordinator=coordinator,
        connect=connect,
        poll=None if store.always_hints else POLL,
        ours=tuple(made),
        private=private,
        fleet=fleet,
        store_appoints=isinstance(addresses.store, str) and addresses.store == appointed_by,
        electing=electing,
    )


def _missing_store(runtime: Runtime) -> Store:
    guard = backend_guard()
    if guard is None:
        raise ConfigurationError(NO_STORE)
    from drumbeat.backends.memory.store import MemoryStore  # noqa: PLC0415 - as said above

    return guard.missing(MemoryStore(runtime.clock), NO_STORE)


def coordinator_at(address: str, config: Config, runtime: Runtime) -> Callable[[], Coordinator]:
    """A factory of coordinators for the address; `ConfigurationError` if it is unknown."""
    fault = fault_of(Part.COORDINATOR, address)
    if fault is not None:
        raise ConfigurationError(fault)
    context = BackendContext(address, config, runtime)
    if address == NONE:
        return _without_election(_memory_coordinator(context), context)[1]
    return _coordinators(context)


def _memory_store(context: BackendContext) -> Store:
    from drumbeat.backends.memory.store import MemoryStore  # noqa: PLC0415 - as said above

    return MemoryStore(context.runtime.clock)


def _memory_store_for_a_fleet(context: BackendContext) -> Store:
    from drumbeat.backends.memory.store import MemoryStore  # noqa: PLC0415 - as said above
    from drumbeat.backends.memory.store.fence import epoch_by_token  # noqa: PLC0415 - as said above

    return MemoryStore(context.runtime.clock, epoch_by_token)


def _sqlite_store(context: BackendContext) -> Store:
    from drumbeat.backends.sqlite.store import SqliteStore  # noqa: PLC0415 - as said above

    return SqliteStore(context.path, context.runtime.clock, context.config.namespace)


def _postgres_store(context: BackendContext) -> Store:
    from drumbeat.backends.postgres.store import PostgresStore  # noqa: PLC0415 - as said above

    return PostgresStore(context.address, context.runtime.clock, context.config.namespace)


def _mongo_store(context: BackendContext) -> Store:
    from drumbeat.backends.mongo.store import MongoStore  # noqa: PLC0415 - as said above

    return MongoStore(context.address, context.runtime.clock, context.config.namespace)


def _memory_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.memory.coordinator import MemoryCoordinator  # noqa: PLC0415 - as said above

    return MemoryCoordinator(context.runtime.clock, _domain(context))


def _sqlite_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.sqlite.coordinator import SqliteCoordinator  # noqa: PLC0415 - as said above

    return SqliteCoordinator(context.path, context.runtime.clock, context.config.namespace)


def _postgres_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.postgres.coordinator import PostgresCoordinator  # noqa: PLC0415 - as said above

    return PostgresCoordinator(context.address, context.runtime.clock, context.config.namespace)


def _mongo_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.mongo.coordinator import MongoCoordinator  # noqa: PLC0415 - as said above

    return MongoCoordinator(context.address, context.runtime.clock, context.config.namespace)


def _redis_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.redis.coordinator import RedisCoordinator  # noqa: PLC0415 - as said above

    return RedisCoordinator(context.address, context.runtime.clock, context.config.namespace)


def _etcd_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.etcd.coordinator import EtcdCoordinator  # noqa: PLC0415 - as said above

    return EtcdCoordinator(context.address, context.runtime, context.config.namespace)


def _consul_coordinator(context: BackendContext) -> Coordinator:
    from drumbeat.backends.consul.coordinator import ConsulCoordinator  # noqa: PLC0415 - as said above

    return ConsulCoordinator(context.address, context.runtime, context.config.namespace)


@contextmanager
def extra(title: str, name: str, client: str) -> Generator[None]:
    """Name the extra to install when the client library of a backend is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != client:
            raise
        raise ConfigurationError(
            f"{title} needs the extra {name}: {install_command(name)}"
        ) from None


def _memory_queue(context: BackendContext) -> Queue:
    from drumbeat.backends.memory.queue import MemoryQueue  # noqa: PLC0415 - as said above

    return MemoryQueue(context.runtime.clock)


def _redis_queue(context: BackendContext) -> Queue:
    from drumbeat.backends.redis.queue import RedisQueue, StreamNames  # noqa: PLC0415 - as said above

    config = context.config
    names = StreamNames(config.namespace, config.redis_stream_name, config.redis_group_name)
    return RedisQueue(context.address, context.runtime.clock, names)


STORES: Mapping[str, Make[Store]] = {
    "memory": _memory_store,
    "SQLite": _sqlite_store,
    "PostgreSQL": _postgres_store,
    "MongoDB": _mongo_store,
}
COORDINATORS: Mapping[str, Make[Coordinator]] = {
    "memory": _memory_coordinator,
    "SQLite": _sqlite_coordinator,
    "PostgreSQL": _postgres_coordinator,
    "MongoDB": _mongo_coordinator,
    "Redis": _redis_coordinator,
    "etcd": _etcd_coordinator,
    "Consul": _consul_coordinator,
}
QUEUES: Mapping[str, Make[Queue]] = {"memory": _memory_queue, "Redis": _redis_queue}
EXTRAS = {
    "PostgreSQL": ("postgres", "asyncpg"),
    "MongoDB": ("mongo", "pymongo"),
    "Redis": ("redis", "redis"),
    "etcd": ("etcd", "aiohttp"),
    "Consul": ("consul", "aiohttp"),
}
"""The extra that installs the client library of a backend, and this library."""
IN_PROCESS = frozenset({"memory"})
"""Coordinators that live in this process, so that there is nothing to connect to twice."""


def _without_election(
    others: Coordinator, context: BackendContext
) -> tuple[Coordinator, Callable[[], Coordinator]]:
    """A coordinator under which everyone leads; locks and configuration stay with the other.

    The elector's thread gets no connection, so it leads even while the other is out of reach.
    """
    everyone = EveryoneLeads(context.runtime.clock, _domain(context))
    alone = NoElection(everyone, _memory_coordinator(context))
    return NoElection(everyone, others), partial(Borrowed, alone)


def _coordinators(context: BackendContext) -> Callable[[], Coordinator]:
    return partial(_make, Part.COORDINATOR, COORDINATORS, context)


def _make(part: Part, kinds: Mapping[str, Make[Backend]], context: BackendContext) -> Backend:
    fault = fault_of(part, context.address)
    if fault is not None:
        raise ConfigurationError(fault)
    scheme = _scheme(context.address)
    title = next(each.title for each in BACKENDS if scheme in each.schemes)
    with extra(title, *EXTRAS[title]) if title in EXTRAS else nullcontext():
        made = kinds[title](context)
    guard = backend_guard()
    if guard is None or scheme in IN_PROCESS:
        return made
    given_by = context.config.given_by(part)
    return guard.guarded(made, f"the {part} {masked(context.address)}, given by {given_by}")


def _scheme(address: str) -> str:
    return urlsplit(address).scheme


def _domain(context: BackendContext) -> str:
    return f"memory-{context.runtime.random.getrandbits(64):016x}"
