"""The elector of a node, and the services that run while it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from drumbeat.coordinators.elected import ASK_EVERY
from drumbeat.engine.elector import Candidacy, Elector
from drumbeat.engine.foreign_leader import SchedulePublisher
from drumbeat.engine.leadership import Term
from drumbeat.engine.marks import Marks
from drumbeat.engine.passing import Passing
from drumbeat.engine.promoter import Promoter, PromoterSettings
from drumbeat.engine.pruner import Pruner, RetentionSettings
from drumbeat.engine.reaper import Reaper
from drumbeat.engine.resignation import Resignation
from drumbeat.engine.service import Service
from drumbeat.engine.shared_ticker import SharedTicker
from drumbeat.engine.ticker import Ticker, TickerSettings
from drumbeat.engine.unknown_tasks import StrandedJobs
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import SCHEDULER
from drumbeat.wiring.plant import Plant
from drumbeat.wiring.timings import timings_of


def elector_of(plant: Plant, node_id: NodeId) -> Elector:
    """Stands in the election of the scheduler for this node."""
    timings = timings_of(plant.config)
    retry_every = min(plant.config.seconds("retry_interval"), timings.ttl)
    confirming = plant.backends.confirming
    if confirming is not None:  # a bare yes or no has to be asked for again and again
        timings = replace(timings, renew_every=min(timings.renew_every, ASK_EVERY))
    candidacy = Candidacy(
        SCHEDULER,
        node_id,
        timings,
        retry_every,
        fenced=not plant.backends.in_process,
        confirming=confirming,
        store_appoints=plant.backends.store_appoints,
    )
    return Elector(candidacy, plant.backends.connect, plant.runtime, plant.bus)


def leader_services(plant: Plant) -> Callable[[Term], Sequence[Service]]:
    """What makes the services of a term: started when it begins, stopped when it ends."""
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus

    def services(term: Term) -> Sequence[Service]:
        return (
            _ticker(plant, term),
            *(_publisher(plant, term) if backends.in_process else upkeep(plant)),
            Resignation(term, backends.coordinator, runtime, bus),
        )

    return services


def _publisher(plant: Plant, term: Term) -> Sequence[Service]:
    """Tells the other instances, which see nothing else of this one, what it knows."""
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus
    if not backends.fleet:
        return ()
    return (SchedulePublisher(term, backends.coordinator, backends.store.schedules, runtime, bus),)


def _ticker(plant: Plant, term: Term) -> Ticker:
    backends, runtime, bus = plant.backends, plant.runtime, plant.bus
    schedules, settings = backends.store.schedules, TickerSettings(poll=backends.poll)
    if not (backends.in_process and backends.fleet):
        ticker = Ticker(term, schedules, settings, runtime, bus)
        ticker.stranded = StrandedJobs(backends.store.jobs, plant.registry)
        return ticker
    marks, passing = Marks(backends.coordinator), Passing(schedules, runtime.clock, bus)
    return SharedTicker(term, schedules, settings, marks, passing, runtime, bus)


def upkeep(plant: Plant) -> Sequence[Service]:
    """What somebody has to do for a store: the leader, or each instance for one of its own."""
    backends, config, runtime, bus = plant.backends, plant.config, plant.runtime, plant.bus
    store = backends.store
    retention = RetentionSettings(
        config.length("keep_jobs"),
        config.length("keep_ticks"),
        config.length("keep_nodes"),
        config.length("keep_audit"),
    )
    return (
        Promoter(store.jobs, backends.queue, PromoterSettings(poll=backends.poll), runtime, bus),
        Reaper(store.jobs, config.seconds("heartbeat_every"), runtime, bus),
        Pruner(store.retention, retention, runtime, bus),
    )
