"""The overview of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from statistics import quantiles

from drumbeat.fleet.local.current_election import current_election
from drumbeat.fleet.local.overview.backends import backends
from drumbeat.fleet.local.overview.error_groups import error_groups
from drumbeat.fleet.local.overview.schedule_rows import schedule_rows
from drumbeat.fleet.local.overview.timeline import timeline_of
from drumbeat.fleet.local.services import Services
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.fleet.node import NodeRecord
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.jobs.queue import Queues
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.search import ScheduleSearch, ScheduleState
from drumbeat.rules.attention import LATELY, FleetFacts, attention_of
from drumbeat.rules.schedules.schedule_state import AllSchedules
from drumbeat.wire.backend import BackendView
from drumbeat.wire.error_group import FAILED, ErrorGroupsView
from drumbeat.wire.overview import (
    HistoryView,
    NodeCountsView,
    OverviewView,
    ScheduleCountsView,
    WaitsView,
    attention_view,
)
from drumbeat.wire.schedule_state import MOST_ROWS, ScheduleRowView, TimelineView

NEWEST = 200
"""The jobs whose waits are told."""
PORTION = 50
ROWS = 1_000
"""Rows of the ledgers in which skipped ticks are looked for."""
TERMS = 20
MOST = 100
"""What needs attention and is told."""


class LocalOverview:
    """Implements `FleetOverview`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def get(self) -> OverviewView:
        services = self._services
        every = await services.schedule_list.all()
        queues = await self._queues()
        nodes = await services.store.nodes.list()
        election = await current_election(services)
        facts = FleetFacts(
            now=queues.as_of,
            leader=election.leader,
            schedules=every,
            failures=await services.schedule_list.failures(),
            skipped=await services.store.schedules.recorded(queues.as_of - LATELY, ROWS),
            queues=queues.queues,
            nodes=nodes,
            terms=(await services.store.fence.history(SCHEDULER, PageRequest(TERMS))).items,
        )
        oldest = [each.oldest_at for each in queues.queues if each.oldest_at and not each.paused]
        age = (queues.as_of - min(oldest)).total_seconds() if oldest else None
        return OverviewView(
            as_of=queues.as_of,
            attention=tuple(attention_view(each) for each in attention_of(facts)[:MOST]),
            schedules=_schedule_counts(every),
            nodes=_node_counts(nodes),
            jobs=_counts(queues),
            oldest_age_seconds=age,
            per_minute=self._per_minute(queues),
            waits=await self._waits(),
            election=election,
        )

    async def history(self) -> HistoryView:
        await self._queues()
        return self._services.history.view()

    async def schedules(
        self,
        wanted: ScheduleSearch | None = None,
        page: PageRequest | None = None,
        ticks: int = 30,
    ) -> Page[ScheduleRowView]:
        return await schedule_rows(
            self._services, wanted or ScheduleSearch(), page or PageRequest(MOST_ROWS), ticks
        )

    async def timeline(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        search: str = "",
        limit: int = 30,
    ) -> TimelineView:
        return await timeline_of(self._services, (start, end), search, limit)

    async def errors(self, wanted: JobFilter | None = None) -> ErrorGroupsView:
        failed = replace(wanted or JobFilter(), statuses=FAILED, expired=False)
        return await error_groups(self._services.store.jobs, failed)

    async def backends(self) -> Sequence[BackendView]:
        return await backends(self._services)

    async def _queues(self) -> Queues:
        seen = await self._services.store.queues.list()
        self._services.rates.note(seen)
        self._services.history.note(seen)
        return seen

    def _per_minute(self, queues: Queues) -> dict[Status, float] | None:
        rates = [self._services.rates.of(each, queues.as_of) for each in queues.queues]
        known = [rate.per_minute for rate in rates if rate is not None]
        if not known:
            return None
        return {
            status: round(sum(each.get(status, 0.0) for each in known), 2)
            for status in Status
            if status.final
        }

    async def _waits(self) -> WaitsView | None:
        """How long the newest jobs waited. Those with several attempts waited for other reasons."""
        waits: list[float] = []
        after: str | None = None
        for _ in range(NEWEST // PORTION):
            page = await self._services.store.jobs.list(JobFilter(), PageRequest(PORTION, after))
            waits += [
                max(0.0, (job.started_at - job.run_at).total_seconds())
                for job in page.items
                if job.started_at is not None and job.attempt == 1
            ]
            after = page.next
            if after is None:
                break
        return _percentiles(waits)


def _percentiles(waits: Sequence[float]) -> WaitsView | None:
    if not waits:
        return None
    cuts = quantiles([*waits, waits[-1]], n=100, method="inclusive")
    return WaitsView(p50=cuts[49], p95=cuts[94], p99=cuts[98], jobs=len(waits))


def _schedule_counts(every: AllSchedules) -> ScheduleCountsView:
    states = [every.state_of(each) for each in every.stored]
    return ScheduleCountsView(
        total=len(states),
        paused=states.count(ScheduleState.PAUSED),
        failing=states.count(ScheduleState.FAILING),
        overdue=states.count(ScheduleState.OVERDUE),
        ended=states.count(ScheduleState.ENDED),
        undeclared=len(every.undeclared) + len(every.unknown),
    )


def _node_counts(nodes: Sequence[NodeRecord]) -> NodeCountsView:
    alive = [each.node for each in nodes if each.alive]
    return NodeCountsView(
        alive=len(alive),
        draining=sum(node.draining for node in alive),
        gone=len(nodes) - len(alive),
        slots=sum(node.slots for node in alive),
        busy=sum(node.busy for node in alive),
    )


def _counts(queues: Queues) -> dict[Status, int]:
    return {status: sum(each.counts.get(status, 0) for each in queues.queues) for status in Status}
