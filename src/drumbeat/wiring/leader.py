"""The elector of a node, and the services that run while it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from drumbeat.backends.user_elector import ASK_EVERY
from drumbeat.engine.in_process.fleet_ticker import FleetTicker
from drumbeat.engine.in_process.shared_cursor import SharedCursor
from drumbeat.engine.leading.elector import Candidacy, LeaderElector
from drumbeat.engine.leading.foreign_leader import SchedulePublisher
from drumbeat.engine.leading.hand_over import HandOver
from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.maintenance.promoter import Promoter, PromoterSettings
from drumbeat.engine.maintenance.pruner import Pruner, RetentionSettings
from drumbeat.engine.maintenance.reaper import Reaper
from drumbeat.engine.plumbing.service import Service
from drumbeat.engine.ticking.ticker import Ticker, TickerSettings
from drumbeat.engine.ticking.unknown_tasks import StrandedJobs
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.ids import NodeId
from drumbeat.wiring.setup import NodeSetup
from drumbeat.wiring.timings import timings_of


def elector_of(setup: NodeSetup, node_id: NodeId) -> LeaderElector:
    timings = timings_of(setup.config)
    retry_every = min(setup.config.seconds("retry_interval"), timings.ttl)
    confirming = setup.backends.confirming
    if confirming is not None:  # a bare yes or no has to be asked for again and again
        timings = replace(timings, renew_every=min(timings.renew_every, ASK_EVERY))
    candidacy = Candidacy(
        SCHEDULER,
        node_id,
        timings,
        retry_every,
        fenced=not setup.backends.in_process,
        confirming=confirming,
        store_appoints=setup.backends.store_appoints,
    )
    return LeaderElector(candidacy, setup.backends.connect, setup.runtime, setup.bus)


def leader_services(setup: NodeSetup) -> Callable[[Term], Sequence[Service]]:
    """A factory of the services of a term, which run while this node leads."""
    backends, context = setup.backends, setup.context

    def services(term: Term) -> Sequence[Service]:
        return (
            _ticker(setup, term),
            *(_publisher(setup, term) if backends.in_process else upkeep(setup)),
            HandOver(term, backends.coordinator, context),
        )

    return services


def _publisher(setup: NodeSetup, term: Term) -> Sequence[Service]:
    """Publishes what this instance knows, since the others see nothing else of it."""
    backends = setup.backends
    if not backends.fleet:
        return ()
    schedules = backends.store.schedules
    return (SchedulePublisher(term, backends.coordinator, schedules, setup.context),)


def _ticker(setup: NodeSetup, term: Term) -> Ticker:
    backends, context = setup.backends, setup.context
    schedules, settings = backends.store.schedules, TickerSettings(poll=backends.poll)
    if backends.in_process and backends.fleet:
        cursor = SharedCursor(backends.coordinator)
        return FleetTicker(term, schedules, settings, context, cursor=cursor)
    stranded = StrandedJobs(backends.store.jobs, setup.registry)
    return Ticker(term, schedules, settings, context, stranded=stranded)


def upkeep(setup: NodeSetup) -> Sequence[Service]:
    """The services that maintain a store: run by the leader, or by each instance for its own."""
    backends, config, context = setup.backends, setup.config, setup.context
    store = backends.store
    retention = RetentionSettings(
        config.length("keep_jobs"),
        config.length("keep_ticks"),
        config.length("keep_nodes"),
        config.length("keep_audit"),
    )
    return (
        Promoter(store.jobs, backends.queue, PromoterSettings(poll=backends.poll), context),
        Reaper(store.jobs, config.seconds("heartbeat_every"), context),
        Pruner(store.retention, retention, context),
    )
