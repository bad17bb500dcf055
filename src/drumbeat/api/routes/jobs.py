"""Jobs: create, look at, list, wait for, retry and cancel."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.answer import Answer, Listed, json_answer
from drumbeat.api.call import Call, Nothing
from drumbeat.api.paging import Limit, Place, bounded_page
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import refusal
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import LOCATED, Route
from drumbeat.api.showing import job_bytes, job_shown
from drumbeat.api.submitting import spec_of
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.job import Duplicate, JobSpec, TooLate
from drumbeat.model.page import PageRequest
from drumbeat.model.token import Scope
from drumbeat.wire.changes import ReasonView
from drumbeat.wire.job import AttemptView, JobView, attempt_view
from drumbeat.wire.job_filter import JobFilterView
from drumbeat.wire.new_job import NewJobsView, NewJobView

LARGEST_BATCH = 4 * 1024 * 1024
LONGEST_WAIT = 60


class JobQuery(JobFilterView, kw_only=True, forbid_unknown_fields=True):
    """Which jobs are wanted, and which page of them."""

    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def __post_init__(self) -> None:
        self.check_instants()


class WaitQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How long to wait."""

    timeout: Annotated[float, Meta(ge=0, le=LONGEST_WAIT)] = 30.0
    """In seconds."""


async def create(call: Call[Nothing, NewJobView]) -> Answer:
    """201 and the new job, or 200 and the one that stands for its dedupe key."""
    desk = call.desk
    spec = spec_of(call.body, desk)
    if call.body.queue:
        await desk.queue_names.admit([call.body.queue])
    verdict = await desk.submitter.judged(spec)
    status = 200 if isinstance(verdict, Duplicate) else 201
    return json_answer(job_shown(desk, verdict.job), status, _location(verdict.job.id))


async def create_many(call: Call[Nothing, NewJobsView]) -> list[JobView]:
    """The jobs, in the same order; for a known dedupe key the one that stands for it."""
    desk = call.desk
    specs = [_one_of_many(index, new, call) for index, new in enumerate(call.body.jobs)]
    await desk.queue_names.admit(new.queue for new in call.body.jobs if new.queue)
    return [job_shown(desk, job) for job in await desk.submitter.submit_many(specs)]


async def show(call: Call[Nothing, Any]) -> JobView:
    """The job."""
    return job_shown(call.desk, await call.desk.jobs.get(job_id(call)))


async def attempts(call: Call[Nothing, Any]) -> list[AttemptView]:
    """The ended attempts, oldest first."""
    job = await call.desk.jobs.get(job_id(call))
    return [attempt_view(record) for record in await call.desk.jobs.attempts(job.id)]


async def list_jobs(call: Call[JobQuery, Any]) -> Listed:
    """A page of jobs."""
    query = call.query
    wanted, jobs = query.filter(), call.desk.jobs
    page = await bounded_page(
        lambda page: jobs.list(wanted, page), PageRequest(query.limit, query.after), job_bytes
    )
    return Listed([job_shown(call.desk, job) for job in page.items], page.next)


async def wait(call: Call[WaitQuery, Any]) -> JobView:
    """The job once it is finished."""
    job = await call.desk.jobs.wait(job_id(call), call.query.timeout)
    return job_shown(call.desk, job)


async def retry(call: Call[Nothing, ReasonView]) -> JobView:
    """The job, queued again."""
    desk, number = call.desk, job_id(call)
    verdict = await desk.jobs.retry(number)
    if isinstance(verdict, TooLate):
        raise _too_late(verdict, "only failed and cancelled jobs are retried")
    return job_shown(desk, await desk.jobs.get(number))


async def cancel(call: Call[Nothing, ReasonView]) -> JobView:
    """The job: cancelled if it waited; one that runs is asked to end."""
    desk, number = call.desk, job_id(call)
    verdict = await desk.jobs.cancel(number, call.body.reason)
    if isinstance(verdict, TooLate):
        raise _too_late(verdict, "only unfinished jobs are cancelled")
    return job_shown(desk, await desk.jobs.get(number))


def job_id(call: Call[Any, Any], noun: str = "job") -> int:
    """The job that the path names."""
    text = call.path["id"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Problem(404, f"unknown-{noun}", f"no {noun} has the id {text!r}: an id is a number")
    return int(text)


def _one_of_many(index: int, new: NewJobView, call: Call[Any, Any]) -> JobSpec:
    try:
        return spec_of(new, call.desk)
    except Problem as refused:
        problem = refused
    except DrumbeatError as error:
        problem = refusal(error)
    which = f"jobs[{index}]"
    problem.field = f"{which}.{problem.field}" if problem.field else which
    problem.detail = f"{which}: {problem.detail}"
    raise problem


def _too_late(verdict: TooLate, rule: str) -> Problem:
    return Problem(
        409,
        "status",
        f"job {verdict.job_id} is {verdict.status}; {rule}",
        field="status",
        rule=rule,
    )


def _location(number: int) -> dict[str, str]:
    return {"location": f"/jobs/{number}"}


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
        answers=LOCATED,
    ),
    Route(
        "POST",
        "/jobs/batch",
        Scope.SUBMITTER,
        create_many,
        "Create up to 1,000 jobs, all or none",
        list[JobView],
        status=201,
        body=NewJobsView,
        largest_body=LARGEST_BATCH,
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
    Route(
        "GET",
        "/jobs/{id}/attempts",
        Scope.VIEWER,
        attempts,
        "Show the ended attempts of a job, the oldest first",
        list[AttemptView],
        refuses=(404,),
    ),
    Route(
        "GET",
        "/jobs/{id}/wait",
        Scope.VIEWER,
        wait,
        "Wait until a job is finished, at most a minute",
        JobView,
        refuses=(404, 504),
        query=WaitQuery,
    ),
    Route(
        "POST",
        "/jobs/{id}/retry",
        Scope.OPERATOR,
        retry,
        "Queue a failed or cancelled job again",
        JobView,
        refuses=(404, 409),
        body=ReasonView,
        change="job.retry",
    ),
    Route(
        "POST",
        "/jobs/{id}/cancel",
        Scope.OPERATOR,
        cancel,
        "Cancel a waiting job, or ask a running one to end",
        JobView,
        refuses=(404, 409),
        body=ReasonView,
        change="job.cancel",
    ),
)
