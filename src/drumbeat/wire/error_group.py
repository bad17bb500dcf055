"""Failed jobs of one cause on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from msgspec import Struct, structs

from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.wire.fields import Instant, Name, check_instants
from drumbeat.wire.job_filter import filter_view
from drumbeat.wire.parameters import Parameters

FAILED = frozenset({Status.FAILED})


class ErrorQuery(Parameters, kw_only=True):
    """Which failed jobs are meant; what is not given does not restrict."""

    task: Name | None = None
    queue: Name | None = None
    schedule: Name | None = None
    tag: Name | None = None
    since: Instant | None = None
    """Only jobs that were created at or after it."""
    until: Instant | None = None
    """Only jobs that were created before it."""

    def __post_init__(self) -> None:
        check_instants(since=self.since, until=self.until)

    def parameters(self) -> dict[str, Any]:
        wanted = JobFilter(
            statuses=FAILED,
            task=self.task,
            queue=self.queue,
            schedule=self.schedule,
            tag=self.tag,
            created_from=self.since,
            created_to=self.until,
        )
        return {"wanted": wanted}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        wanted = replace(given["wanted"] or JobFilter(), statuses=FAILED, expired=False)
        fields = structs.asdict(filter_view(wanted))
        return super().of({name: fields[name] for name in cls.__struct_fields__})


class ErrorGroupView(Struct, frozen=True, kw_only=True):
    """Failed jobs whose errors have the same exception and the same frame."""

    exception: str
    """The class of the exception; of an error without a traceback, its sentence."""
    message: str
    """What the newest of them says."""
    file: str
    """Of the frame that raised it; empty: there is no traceback."""
    line: int
    function: str
    count: int
    """Of the jobs that were looked at."""
    first_seen: datetime
    last_seen: datetime
    tasks: tuple[str, ...]
    """Their tasks, at most ten."""
    jobs: tuple[int, ...]
    """The newest of them, at most fifty."""


class ErrorGroupsView(Struct, frozen=True, kw_only=True):
    """The newest failed jobs by their errors, the most frequent first."""

    groups: tuple[ErrorGroupView, ...]
    looked_at: int
    """How many failed jobs were looked at."""
    complete: bool
    """Whether these are all that match; otherwise there are older ones."""
