"""The protocol for the overview: how a whole fleet and its schedules stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.search import ScheduleSearch
from drumbeat.wire.backend import BackendView
from drumbeat.wire.error_group import ErrorGroupsView, ErrorQuery
from drumbeat.wire.overview import HistoryView, OverviewView
from drumbeat.wire.schedule_state import (
    ScheduleRowQuery,
    ScheduleRowView,
    TimelineQuery,
    TimelineView,
)


class FleetOverview(Protocol):
    """What needs attention. The list of all schedules behind it is up to five seconds old."""

    @endpoint("GET /overview", "Show what needs attention, and the fleet in a few numbers")
    async def get(self) -> OverviewView:
        """What needs attention, and how many schedules, jobs and nodes stand how."""
        ...

    @endpoint(
        "GET /overview/history",
        "Show the numbers of jobs over the last hour, as this server saw them",
    )
    async def history(self) -> HistoryView:
        """The depth and the throughput of all queues, as often as the node that answers looked."""
        ...

    @endpoint(
        "GET /overview/schedules",
        "Search and sort schedules, with their state and their last ticks",
        query=ScheduleRowQuery,
    )
    async def schedules(
        self,
        wanted: ScheduleSearch | None = None,
        page: PageRequest | None = None,
        ticks: int = 30,
    ) -> Page[ScheduleRowView]:
        """A page of at most 50 schedules that match, each with the last `ticks` of its ledger."""
        ...

    @endpoint(
        "GET /overview/timeline",
        "Show the past and the coming ticks of schedules",
        query=TimelineQuery,
    )
    async def timeline(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        search: str = "",
        limit: int = 30,
    ) -> TimelineView:
        """The ticks of the first `limit` schedules that match, over at most 31 days.

        Without a start it is six hours ago, without an end in an hour. Of each schedule at most 200
        rows of the ledger and 60 coming ticks are told.
        """
        ...

    @endpoint(
        "GET /overview/errors",
        "Group the newest failed jobs by exception and frame",
        query=ErrorQuery,
    )
    async def errors(self, wanted: JobFilter | None = None) -> ErrorGroupsView:
        """The newest 500 failed jobs that match, at most 100 groups, the largest first.

        Jobs that take more than 16 MiB together are fewer than 500. The statuses of the filter do
        not matter: only failed jobs are meant.
        """
        ...

    @endpoint(
        "GET /overview/backends",
        "Show how fast the store and the coordinator answer this server, and how clocks differ",
    )
    async def backends(self) -> Sequence[BackendView]:
        """The store and the coordinator, as the node that answers reaches them at the moment."""
        ...
