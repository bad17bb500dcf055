"""Services that run on a node whether it leads or not."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.config import Level
from drumbeat.config.backends import NONE
from drumbeat.engine.in_process.cursor_skip import TickSkipper
from drumbeat.engine.in_process.follower import CursorFollower, ElectorFollower
from drumbeat.engine.in_process.shared_cursor import SharedCursor
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.foreign_leader import ScheduleCheck, StoreCheck
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.lifecycle.duplicate_labels import DuplicateLabelCheck
from drumbeat.engine.plumbing.service import Service
from drumbeat.engine.ticking.schedule_sync import Declarer, WaitingChange
from drumbeat.engine.ticking.unknown_tasks import UnknownSchedules
from drumbeat.model.ids import NodeId
from drumbeat.wiring.leader import upkeep
from drumbeat.wiring.setup import NodeSetup


def background_services(
    setup: NodeSetup, node_id: NodeId, elector: LeaderElector | None, leadership: Leadership | None
) -> Sequence[Service]:
    backends, context = setup.backends, setup.context
    if not backends.in_process:
        unknown = UnknownSchedules(backends.store.schedules, setup.registry, context)
        return (unknown, *_labels(setup, node_id), *_store_check(setup, node_id, elector))
    kept = upkeep(setup)
    if elector is None or leadership is None:
        return kept
    skipper = TickSkipper(backends.store.schedules, setup.runtime.clock, setup.bus)
    if backends.fleet:
        coordinator, schedules = backends.coordinator, backends.store.schedules
        return (
            *kept,
            CursorFollower(node_id, SharedCursor(coordinator), skipper, context),
            ScheduleCheck(node_id, coordinator, schedules, context),
        )
    return (*kept, ElectorFollower(elector, leadership, skipper, context))


def declarer(setup: NodeSetup, changes: Sequence[WaitingChange]) -> Sequence[Service]:
    """The service that writes changes by code which wait for due ticks, if there are any."""
    if not changes:
        return ()
    return (Declarer(setup.backends.store.schedules, changes, setup.context),)


def _labels(setup: NodeSetup, node_id: NodeId) -> Sequence[Service]:
    origin = setup.config.origins.get("instance_id")
    if origin is None or origin.level is Level.DEFAULT:
        return ()  # the host's name, which several nodes may share
    lifetime = setup.config.seconds("node_lifetime")
    return (DuplicateLabelCheck(node_id, setup.backends.store.nodes, lifetime, setup.context),)


def _store_check(
    setup: NodeSetup, node_id: NodeId, elector: LeaderElector | None
) -> Sequence[Service]:
    """Only a coordinator at an address of its own can serve the nodes of two stores."""
    backends, named = setup.backends, setup.config.coordinator or NONE
    elects = backends.electing and backends.confirming is None and elector is not None
    if not elects or named == NONE or named.startswith("<") or named == setup.config.store:
        return ()
    nodes, coordinator = backends.store.nodes, backends.coordinator
    return (StoreCheck(node_id, coordinator, nodes, setup.context),)
