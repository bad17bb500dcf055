"""The queries of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Self

from msgspec import Meta, structs

from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.schedule import LONGEST_NAME
from drumbeat.wire.fields import NO_NUL, Instant, Name, check_instants
from drumbeat.wire.job_filter import JobFilterView, filter_view
from drumbeat.wire.parameters import Parameters

Count = Annotated[int, Meta(ge=1, le=1_000)]
Limit = Annotated[int, Meta(ge=1, le=LARGEST_PAGE)]
Place = Annotated[str, Meta(max_length=500)]
Words = Annotated[str, Meta(min_length=1, max_length=500, pattern=NO_NUL)]
WaitSeconds = Annotated[float, Meta(ge=0, le=60)]


class PageQuery(Parameters, kw_only=True):
    """Which page is wanted."""

    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def parameters(self) -> dict[str, Any]:
        return {"page": PageRequest(self.limit, self.after)}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        page: PageRequest = given["page"] or PageRequest()
        return super().of({**given, "limit": page.size, "after": page.after})


class JobQuery(JobFilterView, kw_only=True):
    """Which jobs are wanted, and which page of them."""

    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def __post_init__(self) -> None:
        self.check_instants()

    def parameters(self) -> dict[str, Any]:
        return {"wanted": self.filter(), "page": PageRequest(self.limit, self.after)}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        page: PageRequest = given["page"] or PageRequest()
        wanted = structs.asdict(filter_view(given["wanted"] or JobFilter()))
        return super().of({**wanted, "limit": page.size, "after": page.after})


class AuditQuery(PageQuery, kw_only=True):
    """Which entries are wanted, and which page of them."""

    actor: Words | None = None
    """Only changes that they asked for."""
    action: Words | None = None
    """Only changes of this kind, such as `queue.pause`."""
    target: Words | None = None
    """Only changes of this."""
    since: Instant | None = None
    """Only changes at or after it."""
    until: Instant | None = None
    """Only changes before it."""

    def __post_init__(self) -> None:
        check_instants(since=self.since, until=self.until)

    def parameters(self) -> dict[str, Any]:
        wanted = AuditFilter(self.actor, self.action, self.target, self.since, self.until)
        return {"wanted": wanted, **super().parameters()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        return super().of({**given, **asdict(given["wanted"] or AuditFilter())})


class ScheduleQuery(PageQuery, kw_only=True):
    """Which schedules are wanted, and which page of them."""

    prefix: Annotated[str, Meta(max_length=LONGEST_NAME, pattern=NO_NUL)] = ""
    """Only names that begin with it."""
    tag: Name | None = None
    """Only schedules with this tag."""

    def parameters(self) -> dict[str, Any]:
        return {"prefix": self.prefix, "tag": self.tag, **super().parameters()}


class WaitQuery(Parameters, kw_only=True):
    """How long to wait."""

    timeout: WaitSeconds = 30.0
    """In seconds."""


class ResignQuery(Parameters, kw_only=True):
    """How long to wait for another leader."""

    timeout: WaitSeconds = 15.0
    """In seconds."""


class PreviewQuery(Parameters, kw_only=True, rename={"count": "n"}):
    """How much of a preview is wanted."""

    count: Count = 10
    """How many ticks."""


class ExplainQuery(Parameters, kw_only=True):
    """How much is to be explained."""

    ticks: Count = 10
    """How many rows of the ledger."""
    tz: Annotated[str, Meta(min_length=1, max_length=100)] = "UTC"
    """The zone of the times in the sentences."""


class NodeQuery(Parameters, kw_only=True, rename={"gone": "all"}):
    """Which nodes are wanted."""

    gone: bool = False
    """Also those that are gone."""


class TokenQuery(Parameters, kw_only=True):
    """Which tokens are wanted."""

    sessions: bool = False
    """Also the sessions of browsers."""
