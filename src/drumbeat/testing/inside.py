"""Inside: the one file of the testing tools that looks behind the facade of an app."""

# ruff: noqa: SLF001 - this is what the file is for
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from drumbeat.api.http.application import Api
from drumbeat.app import Drumbeat
from drumbeat.engine.executing.processes import Processes
from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.lifecycle.node import RunningNode
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.submitting.submissions import JoinedSubmissions
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.testing.joining import MemoryJoining, MemoryTransactions
from drumbeat.wiring.app_state import AppState


def setup(app: Drumbeat) -> AppState:
    """What all parts of the app share."""
    return app._state


def submitter(app: Drumbeat) -> Submitter:
    """What every submission passes through."""
    return app._state.submitter


def declared(app: Drumbeat) -> Sequence[Schedule]:
    """The schedules that code declares."""
    return tuple(app._declared.values())


def node(app: Drumbeat) -> RunningNode | None:
    """The app as a node of the fleet; None while it does not run."""
    return app._state.node


def use_threads(node: RunningNode, threads: Threads) -> None:
    """Let the synchronous handlers of a node that has just started run in other threads."""
    node._parts.executor._threads = threads


def use_processes(node: RunningNode, processes: Processes) -> None:
    """Let the `process=True` handlers of a node that has just started run in other children."""
    node._parts.executor.processes = processes


def measured_fleet(app: Drumbeat) -> LocalFleet:
    """The fleet behind the API of the app."""
    app._state.measure()
    return app.fleet


def bridge(app: Drumbeat) -> SyncBridge:
    """How synchronous code calls the app."""
    return app._state.sync_bridge


@contextmanager
def replaced(app: Drumbeat, other: Drumbeat, bridge: SyncBridge) -> Generator[None]:
    """Let the app be the other one in all but its declarations and its listeners.

    Whatever the body declares or listens to is forgotten at its end.
    """
    submissions, attributes = app._submissions, vars(app)
    before, mounted = dict(attributes), tuple(app._lifecycle._mounted)
    ways = submissions.submitter, submissions.bridge, submissions.joined
    state = other._state
    state.sync_bridge = bridge
    _copy_declarations(app, other)
    _copy_listeners(app._state.bus, state.bus)
    _copy_hooks(app._state.hooks, state.hooks)
    attributes.update(
        vars(other),
        task=app.task,
        _submission=submissions,
        _submissions=submissions,
        _lifecycle=other._lifecycle,  # these two are made when they are first used
        _node_thread=other._node_thread,
    )
    submissions.submitter, submissions.bridge = state.submitter, bridge
    submissions.joined = JoinedSubmissions(
        MemoryJoining(),
        MemoryTransactions(state.submitter, bridge),
        state.tracing,
        state.hooks,
    )
    try:
        with _served_by(app, mounted):
            yield
    finally:
        attributes.clear()
        attributes.update(before)
        submissions.submitter, submissions.bridge, submissions.joined = ways


def _copy_declarations(app: Drumbeat, other: Drumbeat) -> None:
    for name in app.tasks:
        other._registry.add(app._registry.get(name))
    other._declared.update(app._declared)


def _copy_listeners(bus: Bus, other: Bus) -> None:
    """Among them are those that write the log."""
    other._listeners = {kind: list(listeners) for kind, listeners in bus._listeners.items()}
    other._everything = list(bus._everything)


def _copy_hooks(hooks: Hooks, other: Hooks) -> None:
    vars(other).update({**vars(hooks), "started": False})


@contextmanager
def _served_by(app: Drumbeat, mounted: Sequence[Api]) -> Generator[None]:
    """Let the APIs that are mounted into a web app serve what the app is now."""
    before = [dict(vars(api)) for api in mounted]
    if mounted:
        served = vars(app.asgi().api)
        for api in mounted:
            vars(api).update(served)
    try:
        yield
    finally:
        for api, attributes in zip(mounted, before, strict=True):
            vars(api).update(attributes)
