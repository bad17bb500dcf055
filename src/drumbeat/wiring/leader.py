"""The elector of a node, and the services that run while it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from drumbeat.backends.user_elector import ASK_EVERY
from drumbeat.engine.in_process.fleet_ticker import FleetTicker
from drumbeat.engine.in_process.shared_cursor import SharedCursor
from drumbeat.engine.leading.candidacy import Candidacy
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.foreign_leader import SchedulePublisher
from drumbeat.engine.leading.hand_over import HandOver
from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.leading.witness_keeper import WitnessKeeper
from drumbeat.engine.maintenance.dead_nodes import DeadNodes
from drumbeat.engine.maintenance.promoter import Promoter
from drumbeat.engine.maintenance.pruner import Pruner, RetentionSettings
from drumbeat.engine.maintenance.reaper import Reaper
from drumbeat.engine.plumbing.service import Service
from drumbeat.engine.ticking.ticker import Ticker, TickerSettings
from drumbeat.engine.ticking.unknown_tasks import StrandedJobs
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.wiring.app_state import AppState
from drumbeat.wiring.timings import timings_of


def elector_of(app: AppState, keeper: WitnessKeeper | None) -> LeaderElector:
    """The elector; its node leads only with its witness, unless a user's code appoints."""
    timings = timings_of(app.config)
    retry_every = min(app.config.seconds("retry_interval"), timings.ttl)
    confirming = app.backends.confirming
    if confirming is not None:  # a bare yes or no has to be asked for again and again
        timings = replace(timings, renew_every=min(timings.renew_every, ASK_EVERY))
    candidacy = Candidacy(
        SCHEDULER,
        app.id,
        timings,
        retry_every,
        fenced=not app.backends.in_process,
        confirming=confirming,
        store_appoints=app.backends.store_appoints,
        witness=keeper if app.backends.evicts else None,
    )
    return LeaderElector(candidacy, app.backends.connect, app.runtime, app.bus)


def leader_services(
    app: AppState, keeper: WitnessKeeper | None
) -> Callable[[Term], Sequence[Service]]:
    """A factory of the services of a term, which run while this node leads."""
    backends, context = app.backends, app.context

    def services(term: Term) -> Sequence[Service]:
        return (
            _ticker(app, term),
            *(_publisher(app, term) if backends.in_process else upkeep(app, keeper)),
            HandOver(term, backends.coordinator, context),
        )

    return services


def _publisher(app: AppState, term: Term) -> Sequence[Service]:
    """Publishes what this instance knows, since the others see nothing else of it."""
    backends = app.backends
    if not backends.fleet:
        return ()
    schedules = backends.store.schedules
    return (SchedulePublisher(term, backends.coordinator, schedules, app.context),)


def _ticker(app: AppState, term: Term) -> Ticker:
    backends, context = app.backends, app.context
    schedules = backends.store.schedules
    settings = TickerSettings(poll=backends.poll, writers=backends.store.writers)
    if backends.in_process and backends.fleet:
        cursor = SharedCursor(backends.coordinator)
        return FleetTicker(term, schedules, settings, context, cursor=cursor)
    stranded = StrandedJobs(backends.store.jobs, app.registry)
    tickets = backends.queue if backends.queue.carries else None
    return Ticker(term, schedules, settings, context, stranded=stranded, tickets=tickets)


def upkeep(app: AppState, keeper: WitnessKeeper | None = None) -> Sequence[Service]:
    """The services that maintain a store: run by the leader, or by each instance for its own."""
    backends, config, context = app.backends, app.config, app.context
    store = backends.store
    retention = RetentionSettings(
        config.length("keep_jobs"),
        config.length("keep_ticks"),
        config.length("keep_nodes"),
        config.length("keep_audit"),
    )
    return (
        Promoter(store.jobs, backends.queue, backends.poll, context),
        Reaper(
            store.jobs,
            config.seconds("heartbeat_every"),
            context,
            dead_nodes=None if keeper is None else DeadNodes(app.id, keeper, context),
        ),
        Pruner(store.retention, retention, context),
    )
