"""Operations: changes of many jobs, in the background."""

from __future__ import annotations

from typing import Any

from drumbeat.api.answer import Answer, Listed, json_answer
from drumbeat.api.call import Call, Nothing
from drumbeat.api.paging import PageQuery
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import about
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import LOCATED, Route
from drumbeat.api.routes.jobs import job_id
from drumbeat.model.errors import NotFound
from drumbeat.model.job import JobFilter, TooLate
from drumbeat.model.operation import Operation
from drumbeat.model.token import Scope
from drumbeat.wire.changes import ReasonView
from drumbeat.wire.operation import NewOperationView, OperationView, operation_view


async def retry_jobs(call: Call[Nothing, NewOperationView]) -> Answer:
    """The operation that will retry them."""
    body, operations = call.body, call.desk.operations
    with about("filter.status"):
        operation = await operations.retry(
            _wanted(body), body.reason, everything=body.all, dry_run=body.dry_run
        )
    return _begun(operation)


async def cancel_jobs(call: Call[Nothing, NewOperationView]) -> Answer:
    """The operation that will cancel them."""
    body, operations = call.body, call.desk.operations
    with about("filter.status"):
        operation = await operations.cancel_jobs(
            _wanted(body), body.reason, everything=body.all, dry_run=body.dry_run
        )
    return _begun(operation)


async def show(call: Call[Nothing, Any]) -> OperationView:
    """The operation."""
    return operation_view(await _operation(call))


async def list_operations(call: Call[PageQuery, Any]) -> Listed:
    """A page of operations."""
    page = await call.desk.operations.list(call.query.page())
    return Listed([operation_view(operation) for operation in page.items], page.next)


async def cancel(call: Call[Nothing, ReasonView]) -> OperationView:
    """The operation, which ends soon."""
    number = (await _operation(call)).id
    verdict = await call.desk.operations.cancel(number, call.body.reason)
    if isinstance(verdict, TooLate):
        raise Problem(
            409, "status", f"operation {number} is {verdict.status} already", field="status"
        )
    return operation_view(await call.desk.operations.get(number))


async def _operation(call: Call[Any, Any]) -> Operation:
    try:
        return await call.desk.operations.get(job_id(call, "operation"))
    except NotFound as error:
        raise Problem(404, "unknown-operation", str(error)) from None


def _wanted(body: NewOperationView) -> JobFilter:
    wanted = body.filter.filter()
    if wanted == JobFilter() and not body.all:
        rule = 'a filter restricts something, or there is `"all": true`'
        said = f"the filter restricts nothing, so that every job would be meant; {rule}"
        raise Problem(422, "invalid-input", said, field="filter", rule=rule)
    return wanted


def _begun(operation: Operation) -> Answer:
    where = {"location": f"/operations/{operation.id}"}
    return json_answer(operation_view(operation), 202, where)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/jobs/retry",
        Scope.OPERATOR,
        retry_jobs,
        "Retry all failed and cancelled jobs that match a filter",
        OperationView,
        status=202,
        body=NewOperationView,
        change="jobs.retry",
        answers=LOCATED,
    ),
    Route(
        "POST",
        "/jobs/cancel",
        Scope.OPERATOR,
        cancel_jobs,
        "Cancel all unfinished jobs that match a filter",
        OperationView,
        status=202,
        body=NewOperationView,
        change="jobs.cancel",
        answers=LOCATED,
    ),
    Route(
        "GET",
        "/operations",
        Scope.VIEWER,
        list_operations,
        "List operations on many jobs, the newest first",
        list[OperationView],
        query=PageQuery,
    ),
    Route(
        "GET",
        "/operations/{id}",
        Scope.VIEWER,
        show,
        "Show how far an operation has come",
        OperationView,
        refuses=(404,),
    ),
    Route(
        "POST",
        "/operations/{id}/cancel",
        Scope.OPERATOR,
        cancel,
        "End an operation; what it has done stays done",
        OperationView,
        refuses=(404, 409),
        body=ReasonView,
        change="operation.cancel",
    ),
)
