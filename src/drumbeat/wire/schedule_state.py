"""Schedules with their last ticks on the wire: for lists and for the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Meta, Struct

from drumbeat.model.jobs.job import Status
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Outcome, SkipReason
from drumbeat.model.schedules.schedule import Origin
from drumbeat.model.schedules.search import ScheduleOrder, ScheduleSearch, ScheduleState
from drumbeat.wire.fields import NO_NUL, Instant, Name, check_instants
from drumbeat.wire.parameters import Parameters
from drumbeat.wire.queries import PageQuery

MOST_ROWS = 50
"""Schedules of one page: each comes with its last ticks and their jobs."""
Words = Annotated[str, Meta(max_length=200, pattern=NO_NUL)]


class TickMarkView(Struct, frozen=True, kw_only=True):
    """A row of the ledger in short, with the state of its job."""

    at: datetime
    through: datetime
    count: int
    outcome: Outcome
    reason: SkipReason | None = None
    lateness_seconds: float = 0.0
    job_id: int | None = None
    status: Status | None = None
    """Of its job; null: it has none, or it is no longer kept."""
    started_at: datetime | None = None
    finished_at: datetime | None = None


class ScheduleRowView(Struct, frozen=True, kw_only=True):
    """A schedule, how it stands, and its last ticks."""

    name: str
    task: str
    when: str
    """The rule in words."""
    trigger: dict[str, Any]
    tz: str
    """The zone of its rule; UTC if that uses no wall clock."""
    state: ScheduleState
    paused: bool
    pause_reason: str
    undeclared: bool
    origin: Origin
    queue: str
    tags: tuple[str, ...]
    version: int
    next_tick: datetime | None
    interval_seconds: float | None
    """The time between its next two ticks; null: there are none."""
    ticks: tuple[TickMarkView, ...]
    """The last rows of its ledger, the latest first."""
    last_success_at: datetime | None
    """When a run of these ticks last completed."""
    run_seconds: float | None
    """How long a run of these ticks takes: the median."""


class ScheduleRowQuery(PageQuery, kw_only=True):
    """Which schedules are wanted, in which order, and which page of them."""

    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = MOST_ROWS
    search: Words = ""
    """Words that are all in the name, the task, the tags or the rule."""
    state: ScheduleState | None = None
    undeclared: bool = False
    """Only those that code declared and no longer does."""
    tag: Name | None = None
    order: ScheduleOrder = ScheduleOrder.NAME
    ticks: Annotated[int, Meta(ge=0, le=100)] = 30
    """How many of the last rows of each ledger."""

    def parameters(self) -> dict[str, Any]:
        wanted = ScheduleSearch(self.search, self.state, self.undeclared, self.tag, self.order)
        return {"wanted": wanted, "ticks": self.ticks, **super().parameters()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        page: PageRequest = given["page"] or PageRequest(MOST_ROWS)
        wanted = {} if given["wanted"] is None else asdict(given["wanted"])
        limited = PageRequest(min(page.size, MOST_ROWS), page.after)
        return super().of({**given, **wanted, "page": limited})


class TimelineLineView(Struct, frozen=True, kw_only=True):
    """The ticks of one schedule within a time."""

    name: str
    when: str
    tz: str
    state: ScheduleState
    past: tuple[TickMarkView, ...]
    """The latest first."""
    complete_from: datetime
    """Before it there are rows that are left out; the start if there are none."""
    coming: tuple[datetime, ...]
    complete_until: datetime
    """After it there are ticks that are left out; the end if there are none."""


class TimelineView(Struct, frozen=True, kw_only=True):
    """Schedules over time."""

    as_of: datetime
    start: datetime
    end: datetime
    lines: tuple[TimelineLineView, ...]
    schedules: int
    """How many schedules match; `lines` has the first of them."""


class TimelineQuery(Parameters, kw_only=True, rename={"start": "from", "end": "to"}):
    """Which schedules are wanted, and over which time."""

    start: Instant | None = None
    """Null: six hours ago."""
    end: Instant | None = None
    """Null: in an hour."""
    search: Words = ""
    """Words that are all in the name, the task, the tags or the rule."""
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 30

    def __post_init__(self) -> None:
        check_instants(**{"from": self.start, "to": self.end})
