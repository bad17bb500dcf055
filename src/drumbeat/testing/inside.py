"""Inside: the one file of the testing tools that looks behind the facade of an app."""

# ruff: noqa: SLF001 - this is what the file is for
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.app import Drumbeat
from drumbeat.engine.executing.processes import Processes
from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.lifecycle.node import RunningNode
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.schedules.schedule import Schedule
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
