"""Drumbeat: the facade of an app. It registers tasks and delegates everything else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Self, Unpack

from drumbeat.backend_factory import connect
from drumbeat.backends.transactions import CallersTransactions
from drumbeat.config import Config, Settings, masked
from drumbeat.config.addresses import Addresses
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.engine.submitting.submissions import JoinedSubmissions, Submissions
from drumbeat.engine.tasks.blueprint import Blueprint, Host
from drumbeat.engine.tasks.builtin import built_in
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.declarations import Declarations
from drumbeat.engine.tasks.defaults import Defaults
from drumbeat.engine.tasks.handle import TaskSettings
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.engine.tasks.included_modules import IncludedModules
from drumbeat.engine.tasks.listeners import L, Subject, listen
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.task import Place
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import Event
from drumbeat.model.fleet.node import ListedNode, Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.model.time.duration import Duration, parse_duration, seconds_of
from drumbeat.ports.coordinator import Configuration, Coordinator
from drumbeat.ports.elector import NO_ELECTOR, Elector
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store
from drumbeat.wiring.app_state import AppState, submitter_of, tracing_of, watched
from drumbeat.wiring.timings import check

if TYPE_CHECKING:
    from drumbeat.api.http.application import Api
    from drumbeat.dashboard.site import Site
    from drumbeat.engine.jobs import Jobs
    from drumbeat.engine.leading.lock import Lock
    from drumbeat.engine.leading.status import LeadershipStatus
    from drumbeat.engine.operations import Operations
    from drumbeat.engine.schedules import Schedules
    from drumbeat.fleet.local.fleet import LocalFleet
    from drumbeat.wiring.blocking_app import BlockingApp
    from drumbeat.wiring.lifecycle import Lifecycle
    from drumbeat.wiring.node_thread import NodeThread

ROLES = (Role.SCHEDULER, Role.WORKER)


class Drumbeat(Declarations):
    """An app: its tasks and schedules, and the store that keeps them.

    ```python
    app = Drumbeat("memory://")

    @app.task
    async def greet(name: str) -> str:
        return f"Hello, {name}"
    ```
    `include` names the modules that declare its tasks; they are imported when the app starts.
    `task_defaults` are options that its tasks have unless they say otherwise:
    `{"queue": "mail", "timeout": 30}`. Settings are given by name; `drumbeat.config.Config` says
    what each means. The environment and `.env` stand above them, also for the addresses;
    `environment={}` leaves both unread.
    """

    def __init__(
        self,
        store: str | Store | None = None,
        *,
        coordinator: str | Coordinator | None = None,
        queue: str | Queue | None = None,
        elector: Elector = NO_ELECTOR,
        include: Sequence[str] = (),
        runtime: Runtime | None = None,
        task_defaults: TaskSettings | None = None,
        environment: Mapping[str, str] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        given = Addresses(store, coordinator, queue)
        config = Config.load({**settings, **given.by_name()}, environment)
        runtime = runtime or SystemRuntime()
        bus = Bus(runtime.clock)
        check(config)
        backends = watched(connect(given.under(config), config, runtime), bus, runtime.clock)
        tracing = tracing_of(config, runtime)
        hooks = Hooks()
        self._state = state = AppState(
            config=config,
            runtime=runtime,
            bus=bus,
            backends=backends,
            registry=TaskRegistry(built_in(backends.store), Defaults.of(task_defaults, config.tz)),
            hooks=hooks,
            submitter=submitter_of(backends, bus, hooks, tracing),
            tracing=tracing,
        )
        joining = backends.store.joining
        joined = None
        if joining is not None:
            joined = JoinedSubmissions(joining, CallersTransactions(), tracing, hooks)
        self._submissions = Submissions(state.submitter, state.sync_bridge, joined)
        super().__init__(state.registry, self._submissions, hooks, bus)
        self._surround(hooks)
        self._modules = IncludedModules(include)
        state.declared = self._declared
        if elector is not NO_ELECTOR:
            self.obey(elector)
        self._log_events()

    def _log_events(self) -> None:
        from drumbeat.telemetry.logs import log_events  # noqa: PLC0415 - imports all events

        log_events(self._state.bus.on, self._state.config.instance_id, masked)

    def _surround(self, hooks: Hooks) -> None:
        """Register what a framework puts around all attempts, before the hooks of the user."""

    def _place_of(self, ctx: Context) -> Place:
        """Where the handler of a run runs, for middleware."""
        return self._registry.get(ctx.task).place

    def _is_running(self) -> bool:
        return self._state.running

    @cached_property
    def _lifecycle(self) -> Lifecycle:
        from drumbeat.wiring.lifecycle import Lifecycle  # noqa: PLC0415 - imports what a node needs

        return Lifecycle(self._state, self._declared, self.load_modules)

    @cached_property
    def _node_thread(self) -> NodeThread:
        from drumbeat.wiring.node_thread import NodeThread  # noqa: PLC0415 - as above

        return NodeThread(self._lifecycle)

    def include(self, blueprint: Blueprint) -> None:
        """Take over the tasks, schedules, listeners and hooks of a blueprint, now and later."""
        if not isinstance(blueprint, Blueprint):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers exist
            raise ConfigurationError(
                f"app.include takes a Blueprint, not {blueprint!r}; "
                f"modules are named by Drumbeat(..., include=[...])"
            )
        blueprint.join(
            Host(
                self._registry,
                self._declared,
                self._submission,
                self._hooks,
                self._bus,
                self._is_running,
            )
        )

    def autodiscover(self, *packages: str, module: str = "tasks") -> None:
        """Find the modules of this name in packages, and import them when the app starts."""
        for package in packages:
            self._modules.search(package, module)

    def load_modules(self) -> None:
        """Import the modules of `include` and `autodiscover` now, as the start and tools do."""
        self._modules.load()

    @property
    def id(self) -> NodeId:
        """This process's identity in the fleet; new at every start."""
        return self._state.id

    @property
    def settings(self) -> Config:
        """The settings, each with its origin."""
        return self._state.config

    @property
    def jobs(self) -> Jobs:
        """Jobs at run time: submit, get, list, cancel, retry, wait."""
        return self._state.jobs

    @property
    def schedules(self) -> Schedules:
        """Schedules at run time: put, get, list, pause, trigger, skip, backfill, preview."""
        return self._state.schedules

    @property
    def operations(self) -> Operations:
        """Changes of many jobs, which the leading node does in the background."""
        return self._state.operations

    @property
    def sync(self) -> BlockingApp:
        """The same operations for code without an event loop: `app.sync.jobs.result(job)`."""
        from drumbeat.wiring.blocking_app import BlockingApp  # noqa: PLC0415 - many apps never use it

        return BlockingApp(self._state)

    @property
    def leadership(self) -> LeadershipStatus:
        """Who leads, and what to do when that changes."""
        return self._state.leadership

    @property
    def fleet(self) -> LocalFleet:
        """Everything that the HTTP API and the command line offer, for code in this process."""
        return self._state.fleet

    @property
    def config(self) -> Configuration:
        """Small values that the fleet shares: get, put, compare-and-set, watch."""
        return self._state.backends.coordinator.configuration

    @property
    def store(self) -> Store:
        """The store itself, for tools that look closer than tasks need to."""
        return self._state.backends.store

    @property
    def queue(self) -> Queue:
        """The queue itself, for the same; its `carries` is false if the store is the queue."""
        return self._state.backends.queue

    @property
    def addresses(self) -> Sequence[str]:
        """Where this node serves HTTP, with the real ports; empty while it does not."""
        return self._lifecycle.addresses

    async def nodes(self) -> Sequence[ListedNode]:
        """The nodes of the fleet, as the store and the coordinator list them."""
        return await self._state.nodes.list()

    async def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        return await self._state.nodes.drain(nodes)

    async def submit(self, spec: JobSpec) -> Job:
        """Submit a job as given, also for a task that only other nodes know.

        Nothing checks its arguments before a worker does: where the task is registered, use its
        own `submit`.
        """
        return await self._state.submitter.submit(spec)

    async def wait_until_idle(self, timeout: Duration | None = None) -> None:
        """Return when no job is pending, queued or running, anywhere in the fleet."""
        await self.jobs.wait_until_idle(timeout)

    def on(
        self, kind: type[Event], *, task: str | None = None, schedule: str | None = None
    ) -> Callable[[L], L]:
        """Call a function for each event of a kind; `Event` stands for all. A decorator.

        With `task` or `schedule`, only for the events of that task or that schedule.
        """
        return partial(listen, self._state.bus, kind, Subject(task, schedule))

    def lock(self, name: str, *, ttl: Duration = 30.0, wait: Duration = 0.0) -> Lock:
        """A lock of the whole fleet: `async with app.lock("name") as lock:`.

        Waits this long for another holder, then raises `LockHeld`. `lock.token` is its fencing
        token.
        """
        return self._state.lock(name, ttl, wait)

    def obey(self, elector: Elector, *, followers_idle: bool = False) -> None:
        """Lead only while this elector says so, instead of holding an election.

        With `followers_idle` this node also takes jobs only while it leads. Call it before the
        start. With elections switched off it changes nothing.
        """
        state = self._state
        if state.running:
            raise ConfigurationError("the app is running: an elector has to be given before that")
        state.backends = state.backends.obeying(elector, state.runtime.clock)
        state.followers_idle = followers_idle and state.config.leader_election

    async def start(self, roles: Iterable[Role | str] = ROLES, *, wait: Duration = 0.0) -> None:
        """Start this process as a node of the fleet, and return once it runs.

        Waits this long for a store that does not answer, then raises `Unavailable`.
        """
        await self._lifecycle.start(roles, parse_duration(wait).total_seconds())

    async def stop(self, grace: Duration | None = None) -> None:
        """Drain and stop: running jobs get this long to finish (None: as the settings say).

        `math.inf` waits for them without limit.
        """
        await self._lifecycle.stop(seconds_of(grace))

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
            await self._state.backends.open_what_answers()
            yield self
        finally:
            await self._lifecycle.close()

    def start_in_background(
        self, roles: Iterable[Role | str] = ROLES, *, wait: Duration = 0.0
    ) -> None:
        """Start as `start` does, on an event loop in a daemon thread, and return once it runs.

        It ends with `stop_in_background`, or when the interpreter exits. Signals stay untouched.
        """
        self._node_thread.start(roles, parse_duration(wait).total_seconds())

    def stop_in_background(self, grace: Duration | None = None) -> None:
        """Drain and stop what `start_in_background` has started, as `stop` does."""
        self._node_thread.stop(seconds_of(grace))

    @contextmanager
    def in_background(
        self, roles: Iterable[Role | str] = ROLES, *, wait: Duration = 0.0
    ) -> Generator[Self]:
        """Run as a node in a thread for as long as the body takes."""
        self.start_in_background(roles, wait=wait)
        try:
            yield self
        finally:
            self.stop_in_background()

    def run(self, roles: Iterable[Role | str] = ROLES) -> None:
        """Run as a node until a signal stops it.

        Logs go to standard error as the settings say, unless logging was configured before. If the
        start fails, prints the error and exits with 5 for an absent store, 2 for a wrong setting,
        1 for an `on_start` hook that failed.
        """
        self._lifecycle.run(roles)

    def asgi(self) -> Site[Api]:
        """The HTTP API and the dashboard as an ASGI app: `site.mount("/drumbeat", app.asgi())`.

        It is served for as long as the other app is; this app has to be started beside it.
        """
        return self._lifecycle.asgi()
