"""The newest failed jobs, grouped by the exception and the frame of their errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from drumbeat.fleet.local.large_values import job_bytes
from drumbeat.model.jobs.job import Job, JobFilter
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import JobStore
from drumbeat.rules.jobs.error_site import ErrorSite, message_of, site_of
from drumbeat.wire.error_group import ErrorGroupsView, ErrorGroupView

NEWEST = 500
"""Failed jobs that are looked at."""
PORTION = 50
MOST_BYTES = 16 * 1024 * 1024
"""Of the jobs that are looked at: large ones end the look earlier."""
MOST_GROUPS = 100
MOST_TASKS = 10
MOST_JOBS = 50


async def error_groups(jobs: JobStore, wanted: JobFilter) -> ErrorGroupsView:
    """Group the newest failed jobs that match; what is read is bounded in number and bytes."""
    groups: dict[ErrorSite, list[Job]] = defaultdict(list)
    looked_at, room, after = 0, MOST_BYTES, None
    while looked_at < NEWEST and room > 0:
        page = await jobs.list(wanted, PageRequest(PORTION, after))
        for job in page.items:
            groups[site_of(job.error or "")].append(job)
        looked_at += len(page.items)
        room -= sum(job_bytes(job) for job in page.items)
        after = page.next
        if after is None:
            break
    views = [_view(site, found) for site, found in groups.items()]
    views.sort(key=lambda each: (-each.count, -each.last_seen.timestamp()))
    return ErrorGroupsView(
        groups=tuple(views[:MOST_GROUPS]), looked_at=looked_at, complete=after is None
    )


def _view(site: ErrorSite, jobs: Sequence[Job]) -> ErrorGroupView:
    seen = [job.finished_at or job.created_at for job in jobs]
    newest = max(jobs, key=lambda job: job.finished_at or job.created_at)
    return ErrorGroupView(
        exception=site.exception,
        message=message_of(newest.error or ""),
        file=site.file,
        line=site.line,
        function=site.function,
        count=len(jobs),
        first_seen=min(seen),
        last_seen=max(seen),
        tasks=tuple(sorted({job.task for job in jobs})[:MOST_TASKS]),
        jobs=tuple(job.id for job in jobs[:MOST_JOBS]),
    )
