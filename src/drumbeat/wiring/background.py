"""Services that run on a node whether it leads or not."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.config import Level
from drumbeat.config.backends import NONE
from drumbeat.engine.declaring import Declarer, WaitingChange
from drumbeat.engine.elector import Elector
from drumbeat.engine.foreign_leader import ScheduleCheck, StoreCheck
from drumbeat.engine.labels import Labels
from drumbeat.engine.leadership import Leadership
from drumbeat.engine.marks import Marks
from drumbeat.engine.passing import Passing
from drumbeat.engine.service import Service
from drumbeat.engine.shadow import MarkShadow, TurnShadow
from drumbeat.engine.unknown_tasks import UnknownSchedules
from drumbeat.model.ids import NodeId
from drumbeat.wiring.leader import upkeep
from drumbeat.wiring.plant import Plant


def background_services(
    plant: Plant, node_id: NodeId, elector: Elector | None, leadership: Leadership | None
) -> Sequence[Service]:
    """What runs on a node whether it leads or not."""
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus
    if not backends.in_process:
        unknown = UnknownSchedules(backends.store.schedules, plant.registry, runtime, bus)
        return (unknown, *_labels(plant, node_id), *_store_check(plant, node_id, elector))
    kept = upkeep(plant)
    if elector is None or leadership is None:
        return kept
    passing = Passing(backends.store.schedules, runtime.clock, bus)
    if backends.fleet:
        coordinator, schedules = backends.coordinator, backends.store.schedules
        return (
            *kept,
            MarkShadow(node_id, Marks(coordinator), passing, runtime, bus),
            ScheduleCheck(node_id, coordinator, schedules, runtime, bus),
        )

    def passes() -> bool:
        return leadership.term is None and elector.tries > 0

    return (*kept, TurnShadow(passes, elector.would_lead, passing, runtime, bus))


def declarer(plant: Plant, changes: Sequence[WaitingChange]) -> Sequence[Service]:
    """Writes changes by code that have to wait for due ticks; nothing if there are none."""
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
