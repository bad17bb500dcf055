"""Inside: the one file of the testing tools that looks behind the facade of an app."""

# ruff: noqa: SLF001 - this is what the file is for
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.api.desk import Desk
from drumbeat.app import Drumbeat
from drumbeat.engine.node import RunningNode
from drumbeat.engine.processes import Processes
from drumbeat.engine.submitter import Submitter
from drumbeat.engine.threads import Threads
from drumbeat.model.schedule import Schedule
from drumbeat.wiring import Plant


def plant(app: Drumbeat) -> Plant:
    """What all parts of the app share."""
    return Plant(app._backends, app.settings, app._registry, app._runtime, app._bus)


def submitter(app: Drumbeat) -> Submitter:
    """What every submission passes through."""
    return app._submitter


def declared(app: Drumbeat) -> Sequence[Schedule]:
    """The schedules that code declares."""
    return tuple(app._declared.values())


def node(app: Drumbeat) -> RunningNode | None:
    """The app as a node of the fleet; None while it does not run."""
    return app._node


def use_threads(node: RunningNode, threads: Threads) -> None:
    """Let the synchronous handlers of a node that has just started run in other threads."""
    node._parts.executor._threads = threads


def use_processes(node: RunningNode, processes: Processes) -> None:
    """Let the `process=True` handlers of a node that has just started run in other children."""
    node._parts.executor.processes = processes


def desk(app: Drumbeat) -> Desk:
    """What stands behind the API of the app."""
    app._measure()
    return app._desk()
