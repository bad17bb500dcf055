"""Explains why a schedule did or did not run.

This gathers the evidence from the store; `rules.schedules.explanation` words it.
"""

from __future__ import annotations

from msgspec.structs import asdict

from drumbeat.fleet.local.services import Services
from drumbeat.model.page import PageRequest
from drumbeat.model.time.zones import zone
from drumbeat.rules.human_time import Moments
from drumbeat.rules.schedules.explanation import Evidence, explain_schedule, explain_tick
from drumbeat.wire.explanation import ExplainedTickView, ExplanationView
from drumbeat.wire.job import job_view
from drumbeat.wire.tick import tick_view

NEXT = 3
"""How many of the next ticks are told."""


async def explanation_of(name: str, ticks: int, tz: str, services: Services) -> ExplanationView:
    """Sentences about a schedule and its last `ticks` rows of the ledger, with times in a zone.

    `UnknownSchedule` if there is none of that name.
    """
    place = zone(tz).info
    evidence = await _gathered(name, ticks, services)
    moments, last = Moments(evidence.as_of, place), evidence.previous
    return ExplanationView(
        name=name,
        explanation=tuple(explain_schedule(evidence, moments)),
        paused=evidence.stored.paused,
        next=tuple(evidence.next),
        previous_job=None if last is None else job_view(last, services.registry.secrets),
        ticks=tuple(
            ExplainedTickView(
                **asdict(tick_view(tick)),
                explanation=explain_tick(tick, moments, evidence.job_of(tick)),
            )
            for tick in evidence.ticks
        ),
    )


async def _gathered(name: str, count: int, services: Services) -> Evidence:
    store, schedules = services.store, services.schedules
    stored = await schedules.get(name)
    ticks = (await schedules.ticks(name, PageRequest(count))).items
    lease = await services.reachability.leader()
    ids = [tick.job_id for tick in ticks if tick.job_id is not None]
    if stored.last_job is not None:
        ids.append(stored.last_job)
    found = await store.jobs.get(ids) if ids else ()
    jobs = {job.id: job for job in found if job is not None}
    queues = (await store.queues.list()).queues
    queue = stored.schedule.job.queue
    return Evidence(
        stored,
        await store.now(),
        ticks,
        await schedules.preview(name, NEXT),
        None if stored.last_job is None else jobs.get(stored.last_job),
        lease.holder if lease else None,
        [record for record in await store.nodes.list() if record.alive],
        jobs,
        next((record.paused for record in queues if record.name == queue), None),
    )
