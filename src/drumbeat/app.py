"""Drumbeat: the facade of an app. It registers tasks and delegates everything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from drumbeat.api.http.application import Api
from drumbeat.backend_factory import Addresses, connect
from drumbeat.backends.transactions import CallersTransactions
from drumbeat.config import Config, Duration, Settings, masked
from drumbeat.engine.jobs import Jobs
from drumbeat.engine.leading.lock import Lock, LockRequest
from drumbeat.engine.leading.status import LeadershipStatus
from drumbeat.engine.lifecycle.garbage import freeze_loaded_objects
from drumbeat.engine.lifecycle.node import RunningNode
from drumbeat.engine.lifecycle.refused_start import exit_on_failed_start
from drumbeat.engine.lifecycle.shutdown import run_until_signalled
from drumbeat.engine.lifecycle.startup import Startup
from drumbeat.engine.operations import Operations
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.event_loops import fastest_loop
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.schedules import Schedules
from drumbeat.engine.submitting.submissions import Submissions
from drumbeat.engine.tasks.builtin import built_in
from drumbeat.engine.tasks.declarations import Declarations
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.fleet.local.phase import Phase
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import ConfigurationError, NotRunning
from drumbeat.model.events import Event
from drumbeat.model.fleet.node import NodeRecord, Role, roles_of
from drumbeat.model.ids import NodeId, node_id
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.model.time.duration import parse_duration
from drumbeat.ports.coordinator import Configuration, Coordinator
from drumbeat.ports.elector import NO_ELECTOR, Elector
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store
from drumbeat.rules.leadership.lease_trust import LeaseTimings
from drumbeat.telemetry.log_formats import write_logs
from drumbeat.telemetry.logs import log_events
from drumbeat.telemetry.metrics import Metrics
from drumbeat.telemetry.samples import NodeStatus
from drumbeat.wiring import (
    NodeSetup,
    announcements,
    api_of,
    build_node,
    check,
    declared_on,
    http_listeners,
    reach,
    serves_http,
    submitting_of,
    tracing_of,
)

if TYPE_CHECKING:
    from drumbeat.api.http.listeners import HttpListeners

Listening = TypeVar("Listening", bound=Callable[..., Any])

ROLES = (Role.SCHEDULER, Role.WORKER)


class Drumbeat(Declarations):
    """An app: its tasks and schedules, and the store that keeps them.

    ```python
    app = Drumbeat("memory://")

    @app.task
    async def greet(name: str) -> str:
        return f"Hello, {name}"
    ```
    Settings are given by name; `drumbeat.config.Config` says what each means. The environment and
    `.env` stand above them, also for the addresses; `environment={}` leaves both unread.
    """

    def __init__(
        self,
        store: str | Store | None = None,
        *,
        coordinator: str | Coordinator | None = None,
        queue: str | Queue | None = None,
        elector: Elector = NO_ELECTOR,
        runtime: Runtime | None = None,
        environment: Mapping[str, str] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        given = Addresses(store, coordinator, queue)
        self.settings = Config.load({**settings, **given.by_name()}, environment)
        self._runtime = runtime or SystemRuntime()
        self._bus = Bus(self._runtime.clock)
        check(self.settings)
        self._backends = connect(given.under(self.settings), self.settings, self._runtime)
        self._sync_bridge = SyncBridge()
        self._tracing = tracing_of(self.settings, self._runtime)
        self._submitter, joining = submitting_of(self._backends, self._bus, self._tracing)
        super().__init__(
            TaskRegistry(built_in(self._backends.store)),
            Submissions(self._submitter, self._sync_bridge, joining, CallersTransactions()),
        )
        self._node: RunningNode | None = None
        self._listeners: HttpListeners | None = None
        self._mounted: list[Api] = []
        self._starting = False
        self._followers_idle = False
        self._metrics: Metrics | None = None
        self._last_phase = Phase.STARTING
        if elector is not NO_ELECTOR:
            self.obey(elector)
        self.id: NodeId = self._new_id()
        """This process's identity in the fleet; new at every start."""
        log_events(self._bus.on, self.settings.instance_id)

    @property
    def jobs(self) -> Jobs:
        """Jobs at run time: submit, get, list, cancel, retry, wait."""
        return Jobs(self._backends.store, self._submitter, self._registry, self._runtime.clock)

    @property
    def schedules(self) -> Schedules:
        """Schedules at run time: put, get, list, pause, trigger, skip, backfill, preview."""
        return Schedules(self._backends.store.schedules, self._submitter, self._registry, self._bus)

    @property
    def operations(self) -> Operations:
        """Changes of many jobs, which the leading node does in the background."""
        return Operations(self._backends.store, self._submitter, self._runtime.clock)

    @property
    def leadership(self) -> LeadershipStatus:
        """Who leads, and what to do when that changes."""
        return LeadershipStatus(
            lambda: self._node.leadership if self._node else None,
            self._backends.coordinator,
            self._bus,
        )

    @property
    def fleet(self) -> LocalFleet:
        """Everything that the HTTP API and the command line offer, for code in this process."""
        services = Services(
            node=lambda: self.id,
            phase=self._phase,
            store=self._backends.store,
            coordinator=self._backends.coordinator,
            jobs=self.jobs,
            schedules=self.schedules,
            leadership=self.leadership,
            submitter=self._submitter,
            registry=self._registry,
            config=self.settings,
            runtime=self._runtime,
            bus=self._bus,
            metrics=lambda: self._metrics,
        )
        return LocalFleet(services)

    @property
    def config(self) -> Configuration:
        """Small values that the fleet shares: get, put, compare-and-set, watch."""
        return self._backends.coordinator.configuration

    @property
    def store(self) -> Store:
        """The store itself, for tools that look closer than tasks need to."""
        return self._backends.store

    async def nodes(self) -> Sequence[NodeRecord]:
        """The nodes of the fleet, as the store has them."""
        return await self._backends.store.nodes.list()

    async def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        return await self._backends.store.nodes.request_drain(nodes)

    async def submit(self, spec: JobSpec) -> Job:
        """Submit a job as given, also for a task that only other nodes know.

        Nothing checks its arguments before a worker does: where the task is registered, use its
        own `submit`.
        """
        return await self._submitter.submit(spec)

    def on(self, kind: type[Event]) -> Callable[[Listening], Listening]:
        """Call a function for each event of a kind; `Event` stands for all. A decorator."""

        def listen(listener: Listening) -> Listening:
            self._bus.on(kind, listener)
            return listener

        return listen

    def lock(self, name: str, *, ttl: float | str = 30.0, wait: float | str = 0.0) -> Lock:
        """A lock of the whole fleet: `async with app.lock("name") as lock:`.

        Waits so long for another holder, then raises `LockHeld`. `lock.token` is its fencing token.
        """
        timings = LeaseTimings.for_ttl(parse_duration(ttl).total_seconds())
        patience = parse_duration(wait).total_seconds()
        request = LockRequest(name, self.id, timings, patience)
        return Lock(request, self._backends.coordinator, ServiceContext(self._runtime, self._bus))

    def obey(self, elector: Elector, *, followers_idle: bool = False) -> None:
        """Lead only while this elector says so, instead of holding an election.

        With `followers_idle` this node also takes jobs only while it leads. Call it before the
        start. With elections switched off it changes nothing.
        """
        if self._node is not None or self._starting:
            raise ConfigurationError("the app is running: an elector has to be given before that")
        self._backends = self._backends.obeying(elector, self._runtime.clock)
        self._followers_idle = followers_idle and self.settings.leader_election

    async def start(self, roles: Iterable[Role | str] = ROLES, *, wait: Duration = 0.0) -> None:
        """Start this process as a node of the fleet, and return once it runs.

        Waits this long for a store that does not answer, then raises `Unavailable`.
        """
        await self._start(roles, self._startup(parse_duration(wait).total_seconds()))

    async def _start(self, roles: Iterable[Role | str], startup: Startup) -> RunningNode:
        if self._node is not None or self._starting:
            raise NotRunning("the app is running already; stop it before starting it again")
        chosen = roles_of(roles)
        self._starting = True
        try:
            listeners = self._new_listeners(chosen)
            self.id = self._new_id()
            node = self._node = await startup.run(
                lambda: reach(self._backends, chosen, self._runtime.clock, self._bus),
                lambda: self._begin(chosen, listeners),
            )
            if listeners is not None:
                self._listeners = listeners
                await self._open(listeners)
        finally:
            self._starting = False
        self._sync_bridge.open()
        return node

    def _startup(self, wait: float) -> Startup:
        return Startup(self.settings.shown("store"), wait, self._runtime, self._bus)

    async def _begin(self, roles: frozenset[Role], listeners: HttpListeners | None) -> RunningNode:
        async with self._backends.closed_on_failure():
            if listeners is not None:
                await listeners.check()
            return await self._start_node(roles)

    async def _start_node(self, roles: frozenset[Role]) -> RunningNode:
        for event in announcements(self._backends, self.settings, self.id):
            self._bus.emit(event)
        waiting = await self.schedules.declare(declared_on(self._backends, self._declared.values()))
        setup = NodeSetup(
            backends=self._backends,
            config=self.settings,
            registry=self._registry,
            runtime=self._runtime,
            bus=self._bus,
            followers_idle=self._followers_idle,
            tracing=self._tracing,
        )
        node = build_node(setup, self.id, roles, waiting)
        await node.start()
        return node

    def _new_listeners(self, roles: frozenset[Role]) -> HttpListeners | None:
        if not serves_http(self.settings, roles):
            return None
        self._measure()
        return http_listeners(self.fleet, roles)

    def _measure(self) -> None:
        """Measure everything from now on. Before this, metrics cost nothing."""
        if self._metrics is not None:
            return
        metrics = self._metrics = Metrics(self._runtime.clock)
        store = metrics.timed_store(self._backends.store)
        self._backends = replace(self._backends, store=store)
        self._submitter.use(store)
        metrics.attach(self._bus, store, self._node_status)

    def _node_status(self) -> NodeStatus:
        standing = self.leadership
        slots, busy = self._node.load if self._node is not None else (0, 0)
        names = frozenset(self.settings.queues), self._registry.names
        return NodeStatus(standing.epoch, standing.lease_remaining, slots, busy, *names)

    def _phase(self) -> Phase:
        if self._node is None:
            return Phase.STARTING if self._starting else self._last_phase
        return Phase.STOPPING if self._node.draining else Phase.RUNNING

    async def _open(self, listeners: HttpListeners) -> None:
        try:
            await listeners.open()
        except BaseException:
            await self.stop(0.0)
            raise

    async def stop(self, grace: float | None = None) -> None:
        """Drain and stop: running jobs get this many seconds to finish (None: as the settings say).

        `math.inf` waits for them without limit.
        """
        node, self._node = self._node, None
        if node is None:
            return
        self._sync_bridge.close()
        self._last_phase = Phase.STOPPING
        await node.stop(self.settings.seconds("grace") if grace is None else grace)
        for api in self._mounted:
            api.close()
        listeners, self._listeners = self._listeners, None
        if listeners is not None:
            await listeners.close()
        await self._submitter.close()
        await self._backends.close()
        self._last_phase = Phase.STOPPED

    @asynccontextmanager
    async def running(
        self, roles: Iterable[Role | str] = ROLES, *, wait: Duration = 0.0
    ) -> AsyncGenerator[None]:
        """Run as a node for as long as the body takes: for the lifespan of a web app.

        It yields nothing: Starlette would take that for the state of its requests.
        """
        await self.start(roles, wait=wait)
        try:
            yield
        finally:
            await self.stop()

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Self]:
        """Reach the backends without becoming a node: for scripts and tools."""
        try:
            await self._backends.open_what_answers()
            yield self
        finally:
            await self._submitter.close()
            await self._backends.close()

    def run(self, roles: Iterable[Role | str] = ROLES) -> None:
        """Run as a node until a signal stops it.

        Logs go to standard error as the settings say, unless logging was configured before. If the
        start fails, prints the error and exits with 5 for an absent store, 2 for a wrong setting.
        """
        write_logs(self.settings.log_level, self.settings.log_format, masked)
        chosen = roles_of(roles)
        fastest = fastest_loop() if serves_http(self.settings, chosen) else None
        with exit_on_failed_start(masked), asyncio.Runner(loop_factory=fastest) as runner:
            runner.run(self._run(chosen))

    def asgi(self) -> Api:
        """The HTTP API as an ASGI app, to be mounted into another: `site.mount("/jobs", ...)`.

        It is served for as long as the other app is; this app has to be started beside it.
        """
        self._measure()
        api = api_of(self.fleet)
        self._mounted.append(api)
        return api

    @property
    def addresses(self) -> Sequence[str]:
        """Where this node serves HTTP, with the real ports; empty while it does not."""
        return () if self._listeners is None else self._listeners.addresses

    async def wait_until_idle(self, timeout: float | None = None) -> None:
        """Return when no job is pending, queued or running, anywhere in the fleet."""
        await self.jobs.wait_until_idle(timeout)

    async def _run(self, roles: Iterable[Role | str]) -> None:
        grace = self.settings.seconds("grace")
        startup = self._startup(self.settings.seconds("store_wait"))

        async def start() -> RunningNode:
            node = await self._start(roles, startup)
            freeze_loaded_objects()
            return node

        await run_until_signalled(start, self.stop, grace, startup.abandon)

    def _new_id(self) -> NodeId:
        return node_id(self.settings.instance_id, self._runtime.random.getrandbits(64))
