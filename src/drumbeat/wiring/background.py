"""Services that run on a node whether it leads or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drumbeat.config import Level
from drumbeat.config.backends import NONE
from drumbeat.engine.in_process.cursor_skip import TickSkipper
from drumbeat.engine.in_process.follower import CursorFollower, ElectorFollower
from drumbeat.engine.in_process.shared_cursor import SharedCursor
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.foreign_leader import ScheduleCheck, StoreCheck
from drumbeat.engine.leading.leader_watch import LeaderWatch
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.lifecycle.duplicate_labels import DuplicateLabelCheck
from drumbeat.engine.plumbing.service import Service
from drumbeat.engine.ticking.schedule_sync import Declarer, WaitingChange
from drumbeat.engine.ticking.unknown_tasks import DeclaredCode, UnknownSchedules
from drumbeat.wiring.app_state import AppState
from drumbeat.wiring.leader import upkeep


def background_services(
    app: AppState, leadership: Leadership | None, changes: Sequence[WaitingChange]
) -> Iterator[Service]:
    """The services; `changes` are those of the code that wait for due ticks."""
    own_store = app.backends.in_process
    yield from (_in_process_services if own_store else _checks)(app, leadership)
    if changes:
        yield Declarer(app.backends.store.schedules, changes, app.context)


def _checks(app: AppState, leadership: Leadership | None) -> Iterator[Service]:
    """What a node on a shared store warns of."""
    store, context = app.backends.store, app.context
    remove = app.schedules.remove if app.config.declared_only else None
    code = DeclaredCode(app.registry, app.declared, remove)
    yield UnknownSchedules(store.schedules, code, context)
    origin = app.config.origins.get("instance_id")
    if origin is not None and origin.level is not Level.DEFAULT:
        # By default the label is the host's name, which several nodes may share.
        lifetime = app.config.seconds("node_lifetime")
        yield DuplicateLabelCheck(app.id, store.nodes, lifetime, context)
    if leadership is not None:
        yield from _leader_watch(app, leadership.elector)
    if leadership is not None and _may_serve_two_stores(app):
        yield StoreCheck(app.id, app.backends.coordinator, store.nodes, context)


def _leader_watch(app: AppState, elector: LeaderElector) -> Iterator[Service]:
    """What notices the death of the leader at once, where the store can tell."""
    keeper = elector.candidacy.witness
    if keeper is not None:
        yield LeaderWatch(elector, keeper, app.backends.coordinator, app.context)


def _may_serve_two_stores(app: AppState) -> bool:
    """Whether nodes of another store may elect at this coordinator: it has its own address."""
    backends, named = app.backends, app.config.coordinator or NONE
    elects = backends.electing and backends.confirming is None
    return elects and named != NONE and not named.startswith("<") and named != app.config.store


def _in_process_services(app: AppState, leadership: Leadership | None) -> Iterator[Service]:
    """Each instance maintains its own store, and skips the ticks that another one runs."""
    yield from upkeep(app)
    if leadership is None:
        return
    coordinator, schedules = app.backends.coordinator, app.backends.store.schedules
    skipper = TickSkipper(schedules, app.runtime.clock, app.bus)
    if app.backends.fleet:
        yield CursorFollower(app.id, SharedCursor(coordinator), skipper, app.context)
        yield ScheduleCheck(app.id, coordinator, schedules, app.context)
    else:
        yield ElectorFollower(leadership, skipper, app.context)
