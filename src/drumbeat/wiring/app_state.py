"""AppState: what all parts of an app share, and the node that it runs as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from drumbeat.backend_factory import Backends, extra
from drumbeat.config import Config
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.plumbing.watched_queue import WatchedQueue
from drumbeat.engine.submitting.submitter import Submitter, TracedSubmitter
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.fleet.local.phase import Phase
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.ids import NodeId, node_id
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.time.duration import Duration, parse_duration
from drumbeat.ports.clock import Clock
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.tracing import Tracing
from drumbeat.rules.leadership.lease_trust import LeaseTimings

if TYPE_CHECKING:
    from drumbeat.engine.jobs import Jobs
    from drumbeat.engine.leading.leadership import Leadership
    from drumbeat.engine.leading.lock import Lock
    from drumbeat.engine.leading.status import LeadershipStatus
    from drumbeat.engine.lifecycle.node import RunningNode
    from drumbeat.engine.nodes import Nodes
    from drumbeat.engine.operations import Operations
    from drumbeat.engine.schedules import Schedules
    from drumbeat.fleet.local.fleet import LocalFleet
    from drumbeat.telemetry.metrics import Metrics
    from drumbeat.telemetry.samples import NodeStatus


@dataclass(slots=True, weakref_slot=True, kw_only=True, eq=False)
class AppState:
    """The backends, the settings and the registry of an app, and its node while it runs."""

    config: Config
    runtime: Runtime
    bus: Bus
    backends: Backends
    registry: TaskRegistry
    hooks: Hooks
    submitter: Submitter
    tracing: Tracing | None
    """Traces the jobs that are submitted and run; None: tracing is off."""
    declared: Mapping[str, Schedule] = field(default_factory=dict[str, Schedule])
    """The schedules of the code, by name."""
    sync_bridge: SyncBridge = field(default_factory=SyncBridge)
    id: NodeId = field(init=False)
    """This process's identity in the fleet; new at every start."""
    node: RunningNode | None = None
    starting: bool = False
    last_phase: Phase = Phase.STARTING
    """The phase while there is no node."""
    addresses: tuple[str, ...] = ()
    """Where the node serves HTTP, with the real ports."""
    followers_idle: bool = False
    """Whether a node takes jobs only while it leads."""
    metrics: Metrics | None = None
    """None: nothing is measured."""

    def __post_init__(self) -> None:
        self.renew_id()
        renew_in_children(self._renew)

    def _renew(self) -> None:
        """The node runs on in the parent, and not here."""
        leave_to_parent(self.node)
        if self.node is not None:
            self.last_phase = Phase.STOPPED
        self.node, self.starting, self.addresses = None, False, ()
        self.renew_id()

    def renew_id(self) -> None:
        self.id = node_id(self.config.instance_id, self.runtime.random.getrandbits(64))

    @property
    def context(self) -> ServiceContext:
        return ServiceContext(self.runtime, self.bus)

    @property
    def running(self) -> bool:
        return self.node is not None or self.starting

    @property
    def phase(self) -> Phase:
        if self.node is None:
            return Phase.STARTING if self.starting else self.last_phase
        return Phase.STOPPING if self.node.draining else Phase.RUNNING

    @property
    def jobs(self) -> Jobs:
        from drumbeat.engine.jobs import Jobs  # noqa: PLC0415 - imported when it is first used

        return Jobs(self.backends.store, self.submitter, self.registry, self.runtime.clock)

    @property
    def schedules(self) -> Schedules:
        from drumbeat.engine.schedules import Schedules  # noqa: PLC0415 - as above

        return Schedules(self.backends.store.schedules, self.submitter, self.registry, self.bus)

    @property
    def nodes(self) -> Nodes:
        from drumbeat.engine.nodes import Nodes  # noqa: PLC0415 - as above

        return Nodes(self.backends.store.nodes, self.backends.coordinator, self.runtime.clock)

    @property
    def operations(self) -> Operations:
        from drumbeat.engine.operations import Operations  # noqa: PLC0415 - as above

        return Operations(self.backends.store, self.submitter, self.runtime.clock)

    def lock(self, name: str, ttl: Duration, wait: Duration) -> Lock:
        from drumbeat.engine.leading.lock import Lock, LockRequest  # noqa: PLC0415 - as above

        timings = LeaseTimings.for_ttl(parse_duration(ttl).total_seconds())
        request = LockRequest(name, self.id, timings, parse_duration(wait).total_seconds())
        return Lock(request, self.backends.coordinator, self.context)

    @property
    def leadership(self) -> LeadershipStatus:
        from drumbeat.engine.leading.status import LeadershipStatus  # noqa: PLC0415 - as above

        return LeadershipStatus(self._leadership, self.backends.coordinator, self.bus)

    @property
    def fleet(self) -> LocalFleet:
        from drumbeat.fleet.local.fleet import LocalFleet  # noqa: PLC0415 - as above
        from drumbeat.fleet.local.services import Services  # noqa: PLC0415 - as above

        services = Services(
            node=lambda: self.id,
            phase=lambda: self.phase,
            store=self.backends.store,
            coordinator=self.backends.coordinator,
            queue=self.backends.queue,
            jobs=self.jobs,
            schedules=self.schedules,
            nodes=self.nodes,
            leadership=self.leadership,
            submitter=self.submitter,
            registry=self.registry,
            declared=self.declared,
            config=self.config,
            runtime=self.runtime,
            bus=self.bus,
            metrics=lambda: self.metrics,
        )
        return LocalFleet(services)

    def measure(self) -> None:
        """Measure everything from now on. Before this, metrics cost nothing."""
        if self.metrics is not None:
            return
        from drumbeat.telemetry.metrics import Metrics  # noqa: PLC0415 - as above

        self.metrics = Metrics(self.runtime.clock)
        store = self.metrics.timed_store(self.backends.store)
        self.backends = replace(self.backends, store=store)
        self.submitter.use(store)
        self.metrics.attach(self.bus, store, self._node_status)
        if isinstance(self.backends.queue, WatchedQueue):
            self.metrics.watch_tickets(self.backends.queue)

    def _leadership(self) -> Leadership | None:
        return None if self.node is None else self.node.leadership

    def _node_status(self) -> NodeStatus:
        from drumbeat.telemetry.samples import NodeStatus  # noqa: PLC0415 - as above

        status = self.leadership
        slots, busy = self.node.load if self.node is not None else (0, 0)
        names = frozenset(self.config.queues), self.registry.names
        return NodeStatus(status.epoch, status.lease_remaining, slots, busy, *names)


def tracing_of(config: Config, runtime: Runtime) -> Tracing | None:
    """OpenTelemetry tracing, if the settings ask for it."""
    if not config.tracing:
        return None
    with extra("tracing", "otel", "opentelemetry"):
        from drumbeat.telemetry.traces import Traces  # noqa: PLC0415 - only if it is asked for

    return Traces(runtime.clock)


def watched(backends: Backends, bus: Bus, clock: Clock) -> Backends:
    """The backends, with a queue whose failures are events and fail no submission."""
    if not backends.queue.carries:
        return backends
    return replace(backends, queue=WatchedQueue(backends.queue, bus, clock))


def submitter_of(backends: Backends, bus: Bus, hooks: Hooks, tracing: Tracing | None) -> Submitter:
    store, queue = backends.store, backends.queue
    if tracing is None:
        return Submitter(store, queue, bus, hooks=hooks)
    return TracedSubmitter(store, queue, bus, hooks=hooks, tracing=tracing)
