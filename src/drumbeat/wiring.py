"""Wiring: addresses become backends, backends and settings become a node.

The only file that knows every part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from drumbeat.config import Config
from drumbeat.coordinators.memory import MemoryCoordinator
from drumbeat.coordinators.none import NoCoordinator
from drumbeat.engine.bus import Bus
from drumbeat.engine.elector import Candidacy, Elector
from drumbeat.engine.executor import Executor
from drumbeat.engine.keeper import Heartbeats, Keeper
from drumbeat.engine.leadership import Leadership, Term
from drumbeat.engine.listener import WorkerSettings
from drumbeat.engine.node import Parts, RunningNode
from drumbeat.engine.promoter import Promoter, PromoterSettings
from drumbeat.engine.pruner import Pruner, RetentionSettings
from drumbeat.engine.reaper import Reaper
from drumbeat.engine.registry import Registry
from drumbeat.engine.service import Service
from drumbeat.engine.slots import Slots
from drumbeat.engine.ticker import Ticker, TickerSettings
from drumbeat.engine.worker import Worker
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import SCHEDULER
from drumbeat.model.node import Node, Role
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store, Topic
from drumbeat.queues.memory import MemoryQueue
from drumbeat.queues.stored import StoredQueue
from drumbeat.rules.leading import LeaseTimings
from drumbeat.stores.memory import MemoryStore
from drumbeat.version import VERSION

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

    async def open(self) -> None:
        """Make all of them ready."""
        for backend in (self.store, self.queue, self.coordinator):
            await backend.open()

    async def close(self) -> None:
        """Let go of those that were made here, the store last."""
        for backend in reversed(self.ours):
            await backend.close()


@dataclass(frozen=True, slots=True)
class Addresses:
    """What the user gave: addresses, or backends that exist already."""

    store: str | Store
    coordinator: str | Coordinator | None = None
    queue: str | Queue | None = None


def connect(addresses: Addresses, config: Config, runtime: Runtime) -> Backends:
    """The backends behind the addresses; `ConfigurationError` for one that nobody knows."""
    store = addresses.store
    poll: float | None = POLL
    if isinstance(store, str):
        store = _store(store, runtime)
    if isinstance(store, MemoryStore):
        poll = None
    coordinator = addresses.coordinator
    if not config.leader_election:
        coordinator = "none"
    if coordinator is None or isinstance(coordinator, str):
        coordinator = _coordinator(coordinator or "memory://", runtime)
    queue = addresses.queue
    if queue is None or isinstance(queue, str):
        queue = _queue(queue, store, runtime)
    given = (addresses.store, addresses.coordinator, addresses.queue)
    ours = tuple(made for made in (store, coordinator, queue) if made not in given)
    return Backends(store, queue, coordinator, lambda: coordinator, poll, ours)


def _store(address: str, runtime: Runtime) -> Store:
    if _scheme("store", address) == "memory":
        return MemoryStore(runtime.clock)
    raise _unknown("store", address, ("memory://",))


def _coordinator(address: str, runtime: Runtime) -> Coordinator:
    domain = f"memory-{runtime.random.getrandbits(64):016x}"
    if address == "none":
        return NoCoordinator(runtime.clock, domain)
    if _scheme("coordinator", address) == "memory":
        return MemoryCoordinator(runtime.clock, domain)
    raise _unknown("coordinator", address, ("memory://", "none"))


def _queue(address: str | None, store: Store, runtime: Runtime) -> Queue:
    if address is None:
        return StoredQueue(lambda wake: store.subscribe(Topic.JOBS, wake))
    if _scheme("queue", address) == "memory":
        return MemoryQueue(runtime.clock)
    raise _unknown("queue", address, ("memory://",))


def _scheme(what: str, address: str) -> str:
    scheme = urlsplit(address).scheme
    if not scheme:
        raise ConfigurationError(f"{what} must be an address such as 'memory://', not {address!r}")
    return scheme


def _unknown(what: str, address: str, known: Sequence[str]) -> ConfigurationError:
    scheme = urlsplit(address).scheme
    return ConfigurationError(
        f"no {what} is known for {scheme!r}://; this version has {', '.join(known)}"
    )


@dataclass(frozen=True, slots=True)
class Plant:
    """What all parts of a node share."""

    backends: Backends
    config: Config
    registry: Registry
    runtime: Runtime
    bus: Bus


def build_node(plant: Plant, node_id: NodeId, roles: frozenset[Role]) -> RunningNode:
    """All services of a node, put together and ready to start."""
    runtime, bus, config = plant.runtime, plant.bus, plant.config
    executor = Executor(bus, config.processes)
    slots = Slots(config.concurrency, plant.registry, executor, runtime, bus)
    started_at = runtime.clock.now()
    worker = _worker(plant, node_id, slots) if Role.WORKER in roles else None

    def describe() -> Node:
        return Node(
            id=node_id,
            roles=roles,
            version=VERSION,
            started_at=started_at,
            slots=config.concurrency if worker else 0,
            busy=len(slots.runs),
            queues=config.queues if worker else (),
            draining=worker is not None and not worker.taking,
        )

    heartbeats = Heartbeats(config.seconds("heartbeat_every"), config.seconds("node_lifetime"))
    keeper = Keeper(plant.backends.store.nodes, describe, heartbeats, slots, runtime, bus)
    elector = _elector(plant, node_id) if Role.SCHEDULER in roles else None
    leadership = None
    if elector is not None:
        leadership = Leadership(
            elector, plant.backends.store, _leader_services(plant), runtime, bus
        )
    parts = Parts(node_id, roles, keeper, slots, executor, worker, elector, leadership)
    return RunningNode(parts, plant.backends.store, runtime, bus)


def _worker(plant: Plant, node_id: NodeId, slots: Slots) -> Worker:
    settings = WorkerSettings(node_id, plant.config.queues, plant.backends.poll)
    return Worker(
        settings,
        plant.backends.store.jobs,
        plant.backends.queue,
        plant.registry,
        slots,
        plant.runtime,
        plant.bus,
    )


def _elector(plant: Plant, node_id: NodeId) -> Elector:
    timings = LeaseTimings.for_ttl(plant.config.seconds("lease_ttl"))
    retry_every = min(plant.config.seconds("retry_interval"), timings.ttl)
    candidacy = Candidacy(SCHEDULER, node_id, timings, retry_every)
    return Elector(candidacy, plant.backends.connect, plant.runtime, plant.bus)


def _leader_services(plant: Plant) -> Callable[[Term], Sequence[Service]]:
    backends, config, runtime, bus = plant.backends, plant.config, plant.runtime, plant.bus
    store = backends.store
    retention = RetentionSettings(
        config.length("keep_jobs"), config.length("keep_ticks"), config.length("keep_nodes")
    )

    def services(term: Term) -> Sequence[Service]:
        return (
            Ticker(term, store.schedules, TickerSettings(poll=backends.poll), runtime, bus),
            Promoter(
                store.jobs, backends.queue, PromoterSettings(poll=backends.poll), runtime, bus
            ),
            Reaper(store.jobs, config.seconds("heartbeat_every"), runtime, bus),
            Pruner(store.retention, retention, runtime, bus),
        )

    return services
