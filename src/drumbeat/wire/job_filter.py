"""Which jobs are meant, on the wire."""

from __future__ import annotations

from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.wire.fields import Instant, Name, check_instants
from drumbeat.wire.parameters import Parameters


class JobFilterView(Parameters, kw_only=True, omit_defaults=True):
    """Which jobs are meant; what is not given does not restrict."""

    status: list[Status] = []  # noqa: RUF012 - it is a struct, which copies it
    """Only these. In a query it may be repeated, or separated by commas."""
    task: Name | None = None
    queue: Name | None = None
    schedule: Name | None = None
    tag: Name | None = None
    since: Instant | None = None
    """Only jobs that were created at or after it."""
    until: Instant | None = None
    """Only jobs that were created before it."""
    expired: bool = False
    """Only jobs that were cancelled because they had expired."""
    skipped: bool = False
    """Only jobs that were skipped because their limit was reached."""

    def check_instants(self, path: str = "") -> None:
        """Refuse instants outside of the accepted range.

        Not done by `__post_init__`: operations that are stored already have to stay readable.
        """
        check_instants(**{f"{path}since": self.since, f"{path}until": self.until})

    def filter(self) -> JobFilter:
        """The filter of the store."""
        return JobFilter(
            statuses=frozenset(self.status),
            task=self.task,
            queue=self.queue,
            schedule=self.schedule,
            tag=self.tag,
            created_from=self.since,
            created_to=self.until,
            expired=self.expired,
            skipped=self.skipped,
        )


def filter_view(wanted: JobFilter) -> JobFilterView:
    return JobFilterView(
        status=sorted(wanted.statuses),
        task=wanted.task,
        queue=wanted.queue,
        schedule=wanted.schedule,
        tag=wanted.tag,
        since=wanted.created_from,
        until=wanted.created_to,
        expired=wanted.expired,
        skipped=wanted.skipped,
    )
