"""Lifecycle: starts and stops an app as a node of the fleet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from drumbeat.api.http.application import Api
from drumbeat.config import masked, refuse_while_loading
from drumbeat.config.backends import NONE
from drumbeat.dashboard.site import Site
from drumbeat.engine.lifecycle.node import RunningNode
from drumbeat.engine.lifecycle.own_process import (
    exit_on_failed_start,
    fastest_loop,
    require_own_process,
    run_until_signalled,
)
from drumbeat.engine.lifecycle.process_hooks import ProcessHooks
from drumbeat.engine.lifecycle.startup import Startup
from drumbeat.fleet.local.phase import Phase
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import NotRunning
from drumbeat.model.events import (
    CoordinatorFailed,
    ElectionOff,
    FleetJoined,
    SettingUnused,
    TasksMissing,
)
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.fleet.node import Role, roles_of
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.ports.advice import advice_of
from drumbeat.rules.schedules.in_process import in_step
from drumbeat.telemetry.log_formats import write_logs
from drumbeat.wiring.app_state import AppState
from drumbeat.wiring.http import api_of, http_listeners, serves_http
from drumbeat.wiring.node import build_node

if TYPE_CHECKING:
    from drumbeat.api.http.listeners import HttpListeners

LOG = logging.getLogger("drumbeat.backends")


class Lifecycle:
    """Starts and stops the node of an app.

    `declared` holds the schedules of its code, and `load` imports the modules that declare some.
    """

    def __init__(
        self, app: AppState, declared: Mapping[str, Schedule], load: Callable[[], None]
    ) -> None:
        self._app = app
        self._declared = declared
        self._load = load
        self._listeners: HttpListeners | None = None
        self._mounted: list[Api] = []
        renew_in_children(self._renew)
        self._hooks = ProcessHooks(app.hooks, app.bus)

    @property
    def addresses(self) -> Sequence[str]:
        """Where the node serves HTTP; empty while it does not."""
        return self._app.addresses

    async def start(self, roles: Iterable[Role | str], store_wait: float) -> RunningNode:
        """Start the node. Waits this long for a store that does not answer."""
        refuse_while_loading()
        return await self._start(roles, self._startup(store_wait))

    async def stop(self, grace: float | None = None) -> None:
        """Drain and stop. None: with the grace of the settings."""
        app = self._app
        if app.sync_bridge.is_elsewhere:
            raise NotRunning(
                "the app runs on another event loop: stop it there, or by stop_in_background()"
            )
        node, app.node = app.node, None
        if node is None:
            return
        app.sync_bridge.leave()
        app.last_phase = Phase.STOPPING
        try:
            await node.stop(app.config.seconds("grace") if grace is None else grace)
        finally:
            await self._hooks.stop()
        for api in self._mounted:
            api.close()
        listeners, self._listeners = self._listeners, None
        app.addresses = ()
        if listeners is not None:
            await listeners.close()
        await self.close()
        app.last_phase = Phase.STOPPED

    async def close(self) -> None:
        """Write what was submitted, and close the backends."""
        await self._app.submitter.close()
        await self._app.backends.close()

    def run(self, roles: Iterable[Role | str]) -> None:
        """Run as a node until a signal stops it."""
        refuse_while_loading()
        require_own_process()
        config, chosen = self._app.config, roles_of(roles)
        write_logs(config.log_level, config.log_format, masked)
        fastest = fastest_loop() if serves_http(config, chosen) else None
        with exit_on_failed_start(masked):
            self._load()  # here no loop runs yet, which some modules would refuse
            with asyncio.Runner(loop_factory=fastest) as runner:
                runner.run(self._run(chosen))

    def asgi(self) -> Site[Api]:
        """The HTTP API and the dashboard as an ASGI app, closed when the node stops."""
        self._app.measure()
        site = api_of(self._app.fleet)
        self._mounted.append(site.api)
        return site

    async def _run(self, roles: Iterable[Role | str]) -> None:
        config = self._app.config
        startup = self._startup(config.seconds("store_wait"))

        await run_until_signalled(
            lambda: self._start(roles, startup),
            self.stop,
            config.seconds("grace"),
            startup.abandon,
        )

    def _startup(self, store_wait: float) -> Startup:
        app = self._app
        return Startup(app.config.shown("store"), store_wait, app.runtime, app.bus)

    async def _start(self, roles: Iterable[Role | str], startup: Startup) -> RunningNode:
        app = self._app
        if app.running:
            raise NotRunning("the app is running already; stop it before starting it again")
        chosen = roles_of(roles)
        self._load()
        if app.registry.process_modules:
            app.hooks.check_importable()
        app.starting = True
        try:
            listeners = self._new_listeners(chosen)
            app.renew_id()
            node = app.node = await startup.run(
                lambda: self._open_backends(chosen), lambda: self._begin(chosen, listeners)
            )
            if listeners is not None:
                self._listeners = listeners
                await self._listen(listeners)
                app.addresses = listeners.addresses
                node.describe_anew()
        except BaseException:
            await self._hooks.stop()
            raise
        finally:
            app.starting = False
        app.sync_bridge.open()
        return node

    def _new_listeners(self, roles: frozenset[Role]) -> HttpListeners | None:
        if not serves_http(self._app.config, roles):
            return None
        self._app.measure()
        return http_listeners(self._app.fleet, roles)

    async def _open_backends(self, roles: frozenset[Role]) -> None:
        """A coordinator that does not answer is reported and tried again later."""
        app = self._app
        async with app.backends.closed_on_failure():
            error = await app.backends.open_what_answers()
        if error is not None and Role.SCHEDULER not in roles:  # else its elector reports it
            app.bus.emit(CoordinatorFailed(SCHEDULER, error, app.runtime.clock.now()))

    async def _begin(self, roles: frozenset[Role], listeners: HttpListeners | None) -> RunningNode:
        app = self._app
        async with app.backends.closed_on_failure():
            if listeners is not None:
                await listeners.check()
            self._announce(roles)
            schedules = tuple(self._declared.values())
            if app.backends.in_process:
                schedules = tuple(in_step(schedule) for schedule in schedules)
            waiting = await app.schedules.declare(schedules)
            await self._hooks.start()
            node = build_node(app, roles, waiting)
            await node.start()
            return node

    def _announce(self, roles: frozenset[Role]) -> None:
        """Emit the events with which a node reports its settings when it starts."""
        app = self._app
        config, backends, emit = app.config, app.backends, app.bus.emit
        named = config.coordinator not in (None, NONE)
        coordinator = config.shown("coordinator") if named else "the store"
        queues = tuple(config.queues) if Role.WORKER in roles else ()
        tasks, schedules = len(app.registry.names), len(self._declared)
        queue = config.shown("queue") if backends.queue.carries else "the store"
        addresses = config.namespace, config.shown("store"), coordinator, queue
        emit(FleetJoined(app.id, *addresses, queues, tasks, schedules))
        if not tasks and roles & {Role.SCHEDULER, Role.WORKER}:
            emit(TasksMissing(app.id))
        for note in config.notes:
            emit(SettingUnused(note))
        for advice in advice_of(backends.store, backends.coordinator):
            LOG.warning(advice)
        if not backends.electing:
            emit(ElectionOff(app.id, backends.private, backends.local_locks))

    def _renew(self) -> None:
        leave_to_parent(self._listeners)
        self._listeners = None

    async def _listen(self, listeners: HttpListeners) -> None:
        try:
            await listeners.open()
        except BaseException:
            await self.stop(0.0)
            raise
