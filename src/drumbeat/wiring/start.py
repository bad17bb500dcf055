"""The last steps before a node is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from drumbeat.backend_factory import Backends
from drumbeat.config import Config
from drumbeat.config.backends import NONE
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.events import (
    CoordinatorFailed,
    ElectionOff,
    Event,
    FleetJoined,
    SettingUnused,
)
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import NodeId
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.ports.clock import Clock
from drumbeat.rules.schedules.in_process import in_step


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
    """The events with which a node reports its settings when it starts."""
    named = config.coordinator not in (None, NONE)
    coordinator = config.shown("coordinator") if named else "the store"
    yield FleetJoined(node, config.namespace, config.shown("store"), coordinator)
    for note in config.notes:
        yield SettingUnused(note)
    if not backends.electing:
        yield ElectionOff(node, backends.private, backends.local_locks)
