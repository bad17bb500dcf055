"""Wiring: backends and settings become a node. The only file that knows every service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import TYPE_CHECKING

from drumbeat.api.application import Api
from drumbeat.api.desk import Desk
from drumbeat.api.gate import Gate
from drumbeat.api.peer import is_loopback
from drumbeat.api.table import OF_WORKERS, TABLE
from drumbeat.backends import Backends, extra
from drumbeat.config import Config, Level
from drumbeat.config.backends import NONE
from drumbeat.coordinators.elected import ASK_EVERY
from drumbeat.engine.attempts import Attempts
from drumbeat.engine.bus import Bus
from drumbeat.engine.declaring import Declarer, WaitingChange
from drumbeat.engine.elector import Candidacy, Elector
from drumbeat.engine.executor import Executor
from drumbeat.engine.foreign_leader import ScheduleCheck, SchedulePublisher, StoreCheck
from drumbeat.engine.keeper import Heartbeats, Keeper
from drumbeat.engine.labels import Labels
from drumbeat.engine.leadership import Leadership, Term
from drumbeat.engine.listener import WorkerSettings
from drumbeat.engine.marks import Marks
from drumbeat.engine.node import Parts, RunningNode
from drumbeat.engine.passing import Passing
from drumbeat.engine.process_slots import ProcessSlots
from drumbeat.engine.promoter import Promoter, PromoterSettings
from drumbeat.engine.pruner import Pruner, RetentionSettings
from drumbeat.engine.reaper import Reaper
from drumbeat.engine.registry import Registry
from drumbeat.engine.resignation import Resignation
from drumbeat.engine.rooms import ProcessRoom, Room, Rooms, SlotRoom
from drumbeat.engine.service import Service
from drumbeat.engine.shadow import MarkShadow, TurnShadow
from drumbeat.engine.shared_ticker import SharedTicker
from drumbeat.engine.slots import Slots
from drumbeat.engine.submitter import Submitter
from drumbeat.engine.task import Place
from drumbeat.engine.ticker import Ticker, TickerSettings
from drumbeat.engine.traced import TracedExecutor, TracedJoining, TracedSubmitter
from drumbeat.engine.unknown_tasks import StrandedJobs, UnknownSchedules
from drumbeat.engine.worker import Worker
from drumbeat.model.errors import UnsafeLease
from drumbeat.model.events import (
    CoordinatorFailed,
    ElectionOff,
    Event,
    FleetJoined,
    SettingUnused,
)
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import SCHEDULER
from drumbeat.model.node import Node, Role
from drumbeat.model.schedule import Schedule
from drumbeat.ports.clock import Clock
from drumbeat.ports.joining import Joining
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.tracing import Tracing
from drumbeat.rules.in_step import in_step
from drumbeat.rules.leading import LeaseTimings
from drumbeat.version import VERSION

if TYPE_CHECKING:
    from drumbeat.api.doors import Doors


@dataclass(frozen=True, slots=True)
class Plant:
    """What all parts of a node share."""

    backends: Backends
    config: Config
    registry: Registry
    runtime: Runtime
    bus: Bus
    followers_idle: bool = False
    """Whether a node takes jobs only while it leads."""
    tracing: Tracing | None = None
    """Who is told of jobs that are submitted and run; None: nobody."""


def tracing_of(config: Config, runtime: Runtime) -> Tracing | None:
    """Spans of OpenTelemetry, if the settings ask for them."""
    if not config.tracing:
        return None
    with extra("tracing", "otel", "opentelemetry"):
        from drumbeat.telemetry.traces import Traces  # noqa: PLC0415 - only if it is asked for

    return Traces(runtime.clock)


def submitting_of(
    backends: Backends, bus: Bus, tracing: Tracing | None
) -> tuple[Submitter, Joining | None]:
    """Both ways of creating jobs: over our own connections, and over a caller's."""
    store, queue = backends.store, backends.queue
    if tracing is None:
        return Submitter(store, queue, bus), store.joining
    joining = None if store.joining is None else TracedJoining(store.joining, tracing)
    return TracedSubmitter(store, queue, bus, tracing), joining


def check(config: Config) -> None:
    """Refuse times that cannot work, long before the start."""
    timings = _timings(config)
    _heartbeats(config)
    retry, origin = config.seconds("retry_interval"), config.origins.get("retry_interval")
    if retry > timings.ttl and origin is not None and origin.level is not Level.DEFAULT:
        raise UnsafeLease(
            f"retry_interval {retry:g} s must be at most lease_ttl {timings.ttl:g} s, else the "
            f"followers of a dead leader would sleep past the end of its lease"
        )


def declared_on(backends: Backends, schedules: Iterable[Schedule]) -> Sequence[Schedule]:
    """The schedules of the code, as they are declared on these backends."""
    return [in_step(each) if backends.in_process else each for each in schedules]


async def reach(backends: Backends, roles: frozenset[Role], clock: Clock, bus: Bus) -> None:
    """Open the backends. A coordinator that does not answer is reported and tried again later."""
    async with backends.closed_on_failure():
        error = await backends.open_what_answers()
    if error is not None and Role.SCHEDULER not in roles:  # else its elector reports it
        bus.emit(CoordinatorFailed(SCHEDULER, error, clock.now()))


def announcements(backends: Backends, config: Config, node: NodeId) -> Iterator[Event]:
    """What a node says of its settings when it starts."""
    named = config.coordinator not in (None, NONE)
    coordinator = config.shown("coordinator") if named else "the store"
    yield FleetJoined(node, config.namespace, config.shown("store"), coordinator)
    for note in config.notes:
        yield SettingUnused(note)
    if not backends.electing:
        yield ElectionOff(node, backends.private, backends.local_locks)


def build_node(
    plant: Plant, node_id: NodeId, roles: frozenset[Role], changes: Sequence[WaitingChange] = ()
) -> RunningNode:
    """All services of a node, put together and ready to start.

    `changes` are the schedules that code changed and that have to wait for the leader.
    """
    runtime, bus, config = plant.runtime, plant.bus, plant.config
    executor = Executor(bus) if plant.tracing is None else TracedExecutor(bus, plant.tracing)
    works = Role.WORKER in roles
    rooms = _rooms(plant, executor) if works else _errand_room(plant, executor)
    started_at = runtime.clock.now()
    worker = _worker(plant, node_id, rooms) if works else None
    if worker is None and Role.SCHEDULER in roles:
        worker = _errands(plant, node_id, rooms)

    def describe() -> Node:
        return Node(
            id=node_id,
            roles=roles,
            version=VERSION,
            started_at=started_at,
            slots=rooms.count if works else 0,
            busy=len(rooms.attempts.running),
            queues=config.queues if works else (),
            draining=worker is not None and not worker.taking,
        )

    keeper = Keeper(plant.backends.store.nodes, describe, _heartbeats(config), rooms, runtime, bus)
    elector = _elector(plant, node_id) if Role.SCHEDULER in roles else None
    leadership = None
    if elector is not None:
        leadership = Leadership(
            elector, plant.backends.store, _leader_services(plant), runtime, bus
        )
    parts = Parts(
        node_id,
        roles,
        keeper,
        rooms,
        executor,
        worker,
        elector,
        leadership,
        (*_others(plant, node_id, elector, leadership), *_declarer(plant, changes)),
        plant.followers_idle,
        plant.backends.in_process,
    )
    return RunningNode(parts, plant.backends.store, runtime, bus)


def api_of(desk: Desk) -> Api:
    """The whole API, to be mounted into another app. Who reaches that, nobody here can tell."""
    return Api(desk, Gate(desk), TABLE)


def wants_doors(config: Config, roles: frozenset[Role]) -> bool:
    """Whether the node can be reached over HTTP."""
    return Role.API in roles or (Role.WORKER in roles and config.worker_http_addr is not None)


def doors_of(desk: Desk, roles: frozenset[Role]) -> Doors:
    """Where the node can be reached over HTTP: the API, and what a worker tells of itself."""
    with extra("The HTTP API", "api", "uvicorn"):
        from drumbeat.api.doors import Door, Doors  # noqa: PLC0415 - only when it is used
        from drumbeat.api.server import Server  # noqa: PLC0415 - as above

    config = desk.config
    doors: list[Door] = []
    if Role.API in roles:
        api = Api(desk, Gate(desk, local=is_loopback(config.http_addr)), TABLE)
        doors.append(Door(Server(api, config.http_addr), api))
    address = config.worker_http_addr
    if Role.WORKER in roles and address is not None:
        api = Api(desk, Gate(desk, local=is_loopback(address)), OF_WORKERS)
        doors.append(Door(Server(api, address, "worker_http_addr"), api, guarded=False))
    return Doors(doors)


def _rooms(plant: Plant, executor: Executor) -> Rooms:
    """Slots for each place where handlers run."""
    config, registry, attempts = plant.config, plant.registry, Attempts(plant.runtime, plant.bus)

    def room(count: int, *places: Place) -> Room:
        return SlotRoom(frozenset(places), Slots(count, registry, executor, attempts), registry)

    if config.threads is None:
        direct = [room(config.concurrency, Place.LOOP, Place.THREAD)]
    else:
        direct = [room(config.concurrency, Place.LOOP), room(config.threads, Place.THREAD)]
    children = ProcessSlots(config.processes, registry, executor, attempts)
    return Rooms([*direct, ProcessRoom(children, registry)], attempts)


def _errand_room(plant: Plant, executor: Executor) -> Rooms:
    """One slot, for the built-in tasks."""
    registry, attempts = plant.registry.only_built_in(), Attempts(plant.runtime, plant.bus)
    slots = Slots(1, registry, executor, attempts)
    return Rooms([SlotRoom(frozenset(Place), slots, registry)], attempts)


def _worker(plant: Plant, node_id: NodeId, rooms: Rooms) -> Worker:
    store = plant.backends.store
    settings = WorkerSettings(node_id, plant.config.queues, plant.backends.poll, store.writers)
    return Worker(
        settings,
        store.jobs,
        plant.backends.queue,
        plant.registry,
        rooms,
        plant.runtime,
        plant.bus,
    )


def _errands(plant: Plant, node_id: NodeId, rooms: Rooms) -> Worker:
    """What a node without the role of a worker runs while it leads: built-in tasks, one a time."""
    backends = plant.backends
    return Worker(
        WorkerSettings(node_id, (), backends.poll),
        backends.store.jobs,
        backends.queue,
        plant.registry.only_built_in(),
        rooms,
        plant.runtime,
        plant.bus,
    )


def _elector(plant: Plant, node_id: NodeId) -> Elector:
    timings = _timings(plant.config)
    retry_every = min(plant.config.seconds("retry_interval"), timings.ttl)
    confirming = plant.backends.confirming
    if confirming is not None:  # a bare yes or no has to be asked for again and again
        timings = replace(timings, renew_every=min(timings.renew_every, ASK_EVERY))
    candidacy = Candidacy(
        SCHEDULER,
        node_id,
        timings,
        retry_every,
        fenced=not plant.backends.in_process,
        confirming=confirming,
        store_appoints=plant.backends.store_appoints,
    )
    return Elector(candidacy, plant.backends.connect, plant.runtime, plant.bus)


def _leader_services(plant: Plant) -> Callable[[Term], Sequence[Service]]:
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus

    def services(term: Term) -> Sequence[Service]:
        return (
            _ticker(plant, term),
            *(_publisher(plant, term) if backends.in_process else _upkeep(plant)),
            Resignation(term, backends.coordinator, runtime, bus),
        )

    return services


def _publisher(plant: Plant, term: Term) -> Sequence[Service]:
    """Tells the other instances, which see nothing else of this one, what it knows."""
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus
    if not backends.fleet:
        return ()
    return (SchedulePublisher(term, backends.coordinator, backends.store.schedules, runtime, bus),)


def _ticker(plant: Plant, term: Term) -> Ticker:
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus
    schedules, settings = backends.store.schedules, TickerSettings(poll=backends.poll)
    if not (backends.in_process and backends.fleet):
        ticker = Ticker(term, schedules, settings, runtime, bus)
        ticker.stranded = StrandedJobs(backends.store.jobs, plant.registry)
        return ticker
    marks, passing = Marks(backends.coordinator), Passing(schedules, runtime.clock, bus)
    return SharedTicker(term, schedules, settings, marks, passing, runtime, bus)


def _upkeep(plant: Plant) -> Sequence[Service]:
    """What somebody has to do for a store: the leader, or each instance for one of its own."""
    backends, config, runtime, bus = plant.backends, plant.config, plant.runtime, plant.bus
    store = backends.store
    retention = RetentionSettings(
        config.length("keep_jobs"),
        config.length("keep_ticks"),
        config.length("keep_nodes"),
        config.length("keep_audit"),
    )
    return (
        Promoter(store.jobs, backends.queue, PromoterSettings(poll=backends.poll), runtime, bus),
        Reaper(store.jobs, config.seconds("heartbeat_every"), runtime, bus),
        Pruner(store.retention, retention, runtime, bus),
    )


def _others(
    plant: Plant, node_id: NodeId, elector: Elector | None, leadership: Leadership | None
) -> tuple[Service, ...]:
    """What runs on a node whether it leads or not."""
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus
    if not backends.in_process:
        unknown = UnknownSchedules(backends.store.schedules, plant.registry, runtime, bus)
        return (unknown, *_labels(plant, node_id), *_store_check(plant, node_id, elector))
    upkeep = tuple(_upkeep(plant))
    if elector is None or leadership is None:
        return upkeep
    passing = Passing(backends.store.schedules, runtime.clock, bus)
    if backends.fleet:
        coordinator, schedules = backends.coordinator, backends.store.schedules
        return (
            *upkeep,
            MarkShadow(node_id, Marks(coordinator), passing, runtime, bus),
            ScheduleCheck(node_id, coordinator, schedules, runtime, bus),
        )

    def passes() -> bool:
        return leadership.term is None and elector.tries > 0

    return (*upkeep, TurnShadow(passes, elector.would_lead, passing, runtime, bus))


def _declarer(plant: Plant, changes: Sequence[WaitingChange]) -> tuple[Service, ...]:
    if not changes:
        return ()
    return (Declarer(plant.backends.store.schedules, changes, plant.runtime, plant.bus),)


def _labels(plant: Plant, node_id: NodeId) -> Sequence[Service]:
    origin = plant.config.origins.get("instance_id")
    if origin is None or origin.level is Level.DEFAULT:
        return ()  # the host's name, which nobody chose and several nodes may share
    lifetime = plant.config.seconds("node_lifetime")
    return (Labels(node_id, plant.backends.store.nodes, lifetime, plant.runtime, plant.bus),)


def _store_check(plant: Plant, node_id: NodeId, elector: Elector | None) -> Sequence[Service]:
    """Only a coordinator at an address of its own can serve the nodes of two stores."""
    backends, named = plant.backends, plant.config.coordinator or NONE
    elects = backends.electing and backends.confirming is None and elector is not None
    if not elects or named == NONE or named.startswith("<") or named == plant.config.store:
        return ()
    nodes, coordinator = backends.store.nodes, backends.coordinator
    return (StoreCheck(node_id, coordinator, nodes, plant.runtime, plant.bus),)


def _timings(config: Config) -> LeaseTimings:
    timings = LeaseTimings.for_ttl(config.seconds("lease_ttl"))
    if config.renew_interval is None:
        return timings
    interval = config.seconds("renew_interval")
    longest = floor(timings.longest_renewal() * 1000) / 1000
    try:
        return LeaseTimings.for_ttl(timings.ttl, interval)
    except UnsafeLease:
        raise UnsafeLease(
            f"renew_interval {interval:g} s must be at most {longest:g} s for a "
            f"lease_ttl of {timings.ttl:g} s, else one lost request would cost the leader its term"
        ) from None


def _heartbeats(config: Config) -> Heartbeats:
    return Heartbeats(config.seconds("heartbeat_every"), config.seconds("node_lifetime"))
