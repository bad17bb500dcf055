"""Jobs: create, look at, list."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.answer import Answer, Listed, json_answer
from drumbeat.api.call import Call, Nothing
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.api.submitting import spec_of
from drumbeat.model.job import Duplicate, JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.token import Scope
from drumbeat.wire.job import JobView, job_view
from drumbeat.wire.new_job import Instant, Name, NewJobView


class JobQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which jobs are wanted, and which page of them."""

    status: list[Status] = []
    """Only these; may be repeated, or separated by commas."""
    task: Name | None = None
    queue: Name | None = None
    schedule: Name | None = None
    tag: Name | None = None
    since: Instant | None = None
    """Only jobs that were created at or after it."""
    until: Instant | None = None
    """Only jobs that were created before it."""
    limit: Annotated[int, Meta(ge=1, le=LARGEST_PAGE)] = 100
    after: Annotated[str, Meta(max_length=500)] | None = None
    """Where the page before ended; the `Link` header of that page has it."""

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
        )


async def create(call: Call[Nothing, NewJobView]) -> Answer:
    """201 and the new job, or 200 and the one that stands for its dedupe key."""
    desk = call.desk
    verdict = await desk.submitter.judged(spec_of(call.body, desk))
    status = 200 if isinstance(verdict, Duplicate) else 201
    return json_answer(job_view(verdict.job), status, {"location": f"/jobs/{verdict.job.id}"})


async def show(call: Call[Nothing, Any]) -> JobView:
    """The job."""
    return job_view(await call.desk.jobs.get(job_id(call)))


async def list_jobs(call: Call[JobQuery, Any]) -> Listed:
    """A page of jobs."""
    query = call.query
    page = await call.desk.jobs.list(query.filter(), PageRequest(query.limit, query.after))
    return Listed([job_view(job) for job in page.items], page.next)


def job_id(call: Call[Any, Any]) -> int:
    """The job that the path names."""
    text = call.path["id"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Problem(404, "unknown-job", f"no job has the id {text!r}: an id is a number")
    return int(text)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/jobs",
        Scope.SUBMITTER,
        create,
        "Create a job",
        JobView,
        status=201,
        also={200: JobView},
        body=NewJobView,
    ),
    Route(
        "GET",
        "/jobs",
        Scope.VIEWER,
        list_jobs,
        "List jobs, the newest first",
        list[JobView],
        query=JobQuery,
    ),
    Route("GET", "/jobs/{id}", Scope.VIEWER, show, "Show a job", JobView, refuses=(404,)),
)
