"""Routes for jobs."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.http.call import Call
from drumbeat.api.http.page_query import Limit, Place
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import LOCATED, AnyRoute, Route, change_route, read_route
from drumbeat.fleet.written import WriteResult
from drumbeat.model.fleet.token import Scope
from drumbeat.model.page import PageRequest
from drumbeat.wire.job import AttemptView, JobView
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

    def page(self) -> PageRequest:
        return PageRequest(self.limit, self.after)


class WaitQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How long to wait."""

    timeout: Annotated[float, Meta(ge=0, le=LONGEST_WAIT)] = 30.0
    """In seconds."""


def job_id(call: Call[Any, Any], noun: str = "job") -> int:
    """The id in the path."""
    text = call.path["id"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Problem(404, f"unknown-{noun}", f"no {noun} has the id {text!r}: an id is a number")
    return int(text)


def created_job(view: JobView) -> Response:
    return json_response(view, 201, {"location": f"/jobs/{view.id}"})


def _submitted(written: WriteResult[JobView]) -> Response:
    """201 and the new job, or 200 and the one that holds its dedupe key."""
    view, is_new = written
    return json_response(view, 201 if is_new else 200, {"location": f"/jobs/{view.id}"})


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/jobs",
        Scope.SUBMITTER,
        lambda call: call.fleet.jobs.create(call.body),
        "Create a job",
        JobView,
        status=201,
        also={200: JobView},
        body=NewJobView,
        answers=LOCATED,
        reply=_submitted,
    ),
    Route(
        "POST",
        "/jobs/batch",
        Scope.SUBMITTER,
        lambda call: call.fleet.jobs.create_many(call.body.jobs),
        "Create up to 1,000 jobs, all or none",
        list[JobView],
        status=201,
        body=NewJobsView,
        largest_body=LARGEST_BATCH,
    ),
    read_route(
        "/jobs",
        "List jobs, the newest first",
        list[JobView],
        lambda call: call.fleet.jobs.list(call.query.filter(), call.query.page()),
        query=JobQuery,
    ),
    read_route("/jobs/{id}", "Show a job", JobView, lambda call: call.fleet.jobs.get(job_id(call))),
    read_route(
        "/jobs/{id}/attempts",
        "Show the ended attempts of a job, the oldest first",
        list[AttemptView],
        lambda call: call.fleet.jobs.attempts(job_id(call)),
    ),
    read_route(
        "/jobs/{id}/wait",
        "Wait until a job is finished, at most a minute",
        JobView,
        lambda call: call.fleet.jobs.wait(job_id(call), call.query.timeout),
        query=WaitQuery,
        refuses=(404, 504),
    ),
    change_route(
        "/jobs/{id}/retry",
        "Queue a failed or cancelled job again",
        JobView,
        lambda call: call.fleet.jobs.retry(job_id(call), call.body.reason),
        refuses=(404, 409),
    ),
    change_route(
        "/jobs/{id}/cancel",
        "Cancel a waiting job, or ask a running one to stop",
        JobView,
        lambda call: call.fleet.jobs.cancel(job_id(call), call.body.reason),
        refuses=(404, 409),
    ),
)
