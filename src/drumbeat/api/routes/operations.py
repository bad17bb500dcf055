"""Routes for operations on many jobs."""

from __future__ import annotations

from drumbeat.api.http.page_query import PageQuery
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import LOCATED, AnyRoute, change_route, read_route
from drumbeat.api.routes.jobs import job_id
from drumbeat.wire.operation import NewOperationView, OperationView


def _started(view: OperationView) -> Response:
    return json_response(view, 202, {"location": f"/operations/{view.id}"})


ROUTES: tuple[AnyRoute, ...] = (
    change_route(
        "/jobs/retry",
        "Retry all failed and cancelled jobs that match a filter",
        OperationView,
        lambda call: call.fleet.operations.retry_jobs(
            call.body.filter.filter(),
            call.body.reason,
            everything=call.body.all,
            dry_run=call.body.dry_run,
        ),
        status=202,
        body=NewOperationView,
        answers=LOCATED,
        reply=_started,
    ),
    change_route(
        "/jobs/cancel",
        "Cancel all unfinished jobs that match a filter",
        OperationView,
        lambda call: call.fleet.operations.cancel_jobs(
            call.body.filter.filter(),
            call.body.reason,
            everything=call.body.all,
            dry_run=call.body.dry_run,
        ),
        status=202,
        body=NewOperationView,
        answers=LOCATED,
        reply=_started,
    ),
    read_route(
        "/operations",
        "List operations on many jobs, the newest first",
        list[OperationView],
        lambda call: call.fleet.operations.list(call.query.page()),
        query=PageQuery,
    ),
    read_route(
        "/operations/{id}",
        "Show the progress of an operation",
        OperationView,
        lambda call: call.fleet.operations.get(job_id(call, "operation")),
    ),
    change_route(
        "/operations/{id}/cancel",
        "Cancel an operation; its changes so far remain",
        OperationView,
        lambda call: call.fleet.operations.cancel(job_id(call, "operation"), call.body.reason),
        refuses=(404, 409),
    ),
)
