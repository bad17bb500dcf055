"""Backends: addresses become stores, queues and coordinators.

A backend is one row in each of the tables below, and is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

from drumbeat.config import Config
from drumbeat.config.backends import NONE, fault_of
from drumbeat.coordinators.elected import ElectedCoordinator
from drumbeat.coordinators.memory import MemoryCoordinator
from drumbeat.coordinators.none import EveryoneLeads, NoElection
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.part import Part
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.elector import Confirming, Elector
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store, Topic
from drumbeat.queues.memory import MemoryQueue
from drumbeat.queues.stored import StoredQueue
from drumbeat.rules.electors import require_elector
from drumbeat.stores.memory import MemoryStore
from drumbeat.stores.memory.fence import epoch_by_token

Backend = TypeVar("Backend")

POLL = 1.0
"""Seconds after which a service looks at a store whose hints may get lost."""


@dataclass(frozen=True, slots=True)
class Backends:
    """Where the truth is, who tells, who appoints."""

    store: Store
    queue: Queue
    coordinator: Coordinator
    """For the main loop: locks, the list of nodes, configuration."""
    connect: Callable[[], Coordinator]
    """A coordinator for the elector, which has a loop and a connection of its own."""
    poll: float | None
    """None: the store's hints always come, so nothing has to look without one."""
    ours: tuple[Store | Queue | Coordinator, ...]
    """Those that were made here, and are closed here: what the user made, the user closes."""
    private: bool = False
    """Whether the store is in the memory of this process, where no other instance can see it."""
    fleet: bool = False
    """Whether the coordinator is one that several instances can reach."""
    store_appoints: bool = False
    """Whether the store's server is the coordinator too, so that both fail together."""
    confirming: Confirming | None = None
    """Asks the user's own elector; None: the coordinator appoints."""
    electing: bool = True
    """False: elections are off, so that every instance takes itself for the leader."""

    @property
    def in_process(self) -> bool:
        """Whether instances elect a leader that have nothing in common but the election."""
        return self.electing and self.private and (self.fleet or self.confirming is not None)

    @property
    def local_locks(self) -> bool:
        """Whether locks and configuration are known to this process only."""
        return self.private and not self.fleet

    async def open(self) -> None:
        """Make all of them ready."""
        for backend in (self.store, self.queue, self.coordinator):
            await backend.open()

    async def open_what_answers(self) -> Unavailable | None:
        """Make them ready; a coordinator may be out of reach for now, and is asked again later."""
        for backend in (self.store, self.queue):
            await backend.open()
        try:
            await self.coordinator.open()
        except Unavailable as error:
            return error
        return None

    def obeying(self, elector: Elector, clock: Clock) -> Backends:
        """The same backends, with the word of a user's own elector in place of an election."""
        require_elector(elector)
        if not self.electing:
            return self
        elected = ElectedCoordinator(elector, self.coordinator, self.store.fence, clock)
        return replace(
            self,
            coordinator=elected,
            connect=lambda: Borrowed(elected),
            ours=(*self.ours, elected),
            confirming=elected.leases,
        )

    @asynccontextmanager
    async def closed_on_failure(self) -> AsyncGenerator[None]:
        """Close them if the body fails, so that a start that failed leaves nothing behind."""
        try:
            yield
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Let go of those that were made here, the store last."""
        for backend in reversed(self.ours):
            await backend.close()


class Borrowed:
    """A coordinator that is shared with the main loop, and closed there."""

    def __init__(self, coordinator: Coordinator) -> None:
        self.open = coordinator.open
        self.leases = coordinator.leases
        self.registry = coordinator.registry
        self.configuration = coordinator.configuration

    async def close(self) -> None:
        """Nothing: whoever lent it closes it."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """What the user gave: addresses, or backends that exist already."""

    store: str | Store | None
    coordinator: str | Coordinator | None = None
    queue: str | Queue | None = None

    def by_name(self) -> dict[str, object]:
        """Each by the name of its setting."""
        return {"store": self.store, "coordinator": self.coordinator, "queue": self.queue}

    def under(self, config: Config) -> Addresses:
        """What is to be used: backends that the user made, else the addresses that were settled."""
        return Addresses(
            config.store if isinstance(self.store, str | None) else self.store,
            config.coordinator if isinstance(self.coordinator, str | None) else self.coordinator,
            config.queue if isinstance(self.queue, str | None) else self.queue,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """An address, and what a backend behind it needs to know."""

    address: str
    config: Config
    runtime: Runtime

    @property
    def path(self) -> str:
        """The path of a file: `sqlite:///name.db` is relative, `sqlite:////name.db` is not."""
        path = urlsplit(self.address).path.removeprefix("/")
        if not path:
            raise ConfigurationError(
                f"{self.address!r} names no file; write it as 'sqlite:///drumbeat.db'"
            )
        return path


Make: TypeAlias = Callable[[Place], Backend]


def connect(addresses: Addresses, config: Config, runtime: Runtime) -> Backends:
    """The backends behind the addresses; `ConfigurationError` for one that nobody knows."""
    for name, given in addresses.by_name().items():
        if not (given is None or isinstance(given, str) or hasattr(given, "close")):
            raise ConfigurationError(
                f"{name} must be an address such as 'sqlite:///drumbeat.db', not {given!r}"
            )
    store, coordinator, queue = addresses.store, addresses.coordinator, addresses.queue
    if store is None:
        raise ConfigurationError(
            "no store is named: give an address such as 'sqlite:///drumbeat.db' in code, "
            "by DRUMBEAT_STORE or by --store"
        )
    electing = config.leader_election and coordinator != NONE
    if coordinator is None or coordinator == NONE:  # the store coordinates as well
        coordinator = store if isinstance(store, str) else "memory://"
    appointed_by = coordinator
    place = Place("", config, runtime)
    private = isinstance(store, str) and _scheme(store) == "memory"
    fleet = not isinstance(coordinator, str) or _scheme(coordinator) not in IN_PROCESS
    made: list[Store | Queue | Coordinator] = []
    if isinstance(store, str):
        apart = private and fleet and electing
        store = _memory_apart(place) if apart else _make("store", STORES, place, store)
        made.append(store)
    elect = _elector(coordinator, place)
    if isinstance(coordinator, str):
        coordinator = elect() if elect is not None else _make_coordinator(place, coordinator)
        made.append(coordinator)
    if queue is None or isinstance(queue, str):
        queue = _queue(queue, store, place)
        made.append(queue)
    if not electing:
        coordinator, elect = _without_election(coordinator, place)
    shared = coordinator
    return Backends(
        store,
        queue,
        coordinator,
        elect or (lambda: Borrowed(shared)),
        None if store.always_hints else POLL,
        tuple(made),
        private,
        fleet,
        isinstance(addresses.store, str) and addresses.store == appointed_by,
        electing=electing,
    )


def coordinator_at(address: str, config: Config, runtime: Runtime) -> Callable[[], Coordinator]:
    """How to get a coordinator of one's own; `ConfigurationError` for an unknown address."""
    fault = fault_of(Part.COORDINATOR, address)
    if fault is not None:
        raise ConfigurationError(fault)
    place = Place(address, config, runtime)
    if address == NONE:
        return _without_election(_memory_coordinator(place), place)[1]
    return lambda: _make_coordinator(place, address)


def _memory_store(place: Place) -> Store:
    return MemoryStore(place.runtime.clock)


def _memory_apart(place: Place) -> Store:
    """A memory for each instance of a fleet: epochs are then the tokens of the coordinator."""
    return MemoryStore(place.runtime.clock, epoch_by_token)


def _sqlite_store(place: Place) -> Store:
    from drumbeat.stores.sqlite import SqliteStore  # noqa: PLC0415 - only when it is used

    return SqliteStore(place.path, place.runtime.clock, place.config.namespace)


def _postgres_store(place: Place) -> Store:
    with extra("PostgreSQL", "postgres", "asyncpg"):
        from drumbeat.stores.postgres import PostgresStore  # noqa: PLC0415 - as above

    return PostgresStore(place.address, place.runtime.clock, place.config.namespace)


def _memory_coordinator(place: Place) -> Coordinator:
    return MemoryCoordinator(place.runtime.clock, _domain(place))


def _sqlite_coordinator(place: Place) -> Coordinator:
    from drumbeat.coordinators.sqlite import SqliteCoordinator  # noqa: PLC0415 - as above

    return SqliteCoordinator(place.path, place.runtime.clock, place.config.namespace)


def _postgres_coordinator(place: Place) -> Coordinator:
    with extra("PostgreSQL", "postgres", "asyncpg"):
        from drumbeat.coordinators.postgres import PostgresCoordinator  # noqa: PLC0415 - as above

    return PostgresCoordinator(place.address, place.runtime.clock, place.config.namespace)


def _redis_coordinator(place: Place) -> Coordinator:
    with extra("Redis", "redis", "redis"):
        from drumbeat.coordinators.redis import RedisCoordinator  # noqa: PLC0415 - as above

    return RedisCoordinator(place.address, place.runtime.clock, place.config.namespace)


def _etcd_coordinator(place: Place) -> Coordinator:
    with extra("etcd", "etcd", "aiohttp"):
        from drumbeat.coordinators.etcd import EtcdCoordinator  # noqa: PLC0415 - as above

    return EtcdCoordinator(place.address, place.runtime, place.config.namespace)


def _consul_coordinator(place: Place) -> Coordinator:
    with extra("Consul", "consul", "aiohttp"):
        from drumbeat.coordinators.consul import ConsulCoordinator  # noqa: PLC0415 - as above

    return ConsulCoordinator(place.address, place.runtime, place.config.namespace)


@contextmanager
def extra(title: str, name: str, client: str) -> Generator[None]:
    """Say which extra to install when the client of a backend is not."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != client:
            raise
        raise ConfigurationError(
            f"{title} needs the extra {name}: {install_command(name)}"
        ) from None


def _memory_queue(place: Place) -> Queue:
    return MemoryQueue(place.runtime.clock)


STORES: Mapping[str, Make[Store]] = {
    "memory": _memory_store,
    "sqlite": _sqlite_store,
    "postgresql": _postgres_store,
    "postgres": _postgres_store,
}
COORDINATORS: Mapping[str, Make[Coordinator]] = {
    "memory": _memory_coordinator,
    "sqlite": _sqlite_coordinator,
    "etcd": _etcd_coordinator,
    "etcds": _etcd_coordinator,
    "consul": _consul_coordinator,
    "consuls": _consul_coordinator,
    "postgresql": _postgres_coordinator,
    "postgres": _postgres_coordinator,
    "redis": _redis_coordinator,
    "rediss": _redis_coordinator,
    "redis+sentinel": _redis_coordinator,
    "rediss+sentinel": _redis_coordinator,
    "unix": _redis_coordinator,
}
QUEUES: Mapping[str, Make[Queue]] = {"memory": _memory_queue}
IN_PROCESS = frozenset({"memory"})
"""Coordinators that live in this process, so that there is nothing to connect to twice."""


def _elector(coordinator: str | Coordinator, place: Place) -> Callable[[], Coordinator] | None:
    """How the elector gets a coordinator of its own; None: it shares the one of the main loop."""
    if not isinstance(coordinator, str) or _scheme(coordinator) in IN_PROCESS:
        return None
    return lambda: _make_coordinator(place, coordinator)


def _without_election(
    others: Coordinator, place: Place
) -> tuple[Coordinator, Callable[[], Coordinator]]:
    """Everyone leads; all else stays with the other coordinator.

    The elector's thread needs no connection for that, so it is given none: it leads also while the
    other coordinator is out of reach.
    """
    everyone = EveryoneLeads(place.runtime.clock, _domain(place))
    alone = NoElection(everyone, _memory_coordinator(place))
    return NoElection(everyone, others), lambda: Borrowed(alone)


def _make_coordinator(place: Place, address: str) -> Coordinator:
    return _make("coordinator", COORDINATORS, place, address)


def _queue(address: str | None, store: Store, place: Place) -> Queue:
    if address is None:
        return StoredQueue(lambda wake: store.subscribe(Topic.JOBS, wake))
    return _make("queue", QUEUES, place, address)


def _make(what: str, kinds: Mapping[str, Make[Backend]], place: Place, address: str) -> Backend:
    make = kinds.get(_scheme(address))
    if make is None:
        known = ", ".join(f"{scheme}://" for scheme in kinds)
        raise ConfigurationError(
            f"no {what} is known for {_scheme(address) or address!r}; this version has {known}"
        )
    return make(Place(address, place.config, place.runtime))


def _scheme(address: str) -> str:
    return urlsplit(address).scheme


def _domain(place: Place) -> str:
    return f"memory-{place.runtime.random.getrandbits(64):016x}"
