"""Turns an error response into the error that a local fleet would have raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from drumbeat.fleet.remote.request import Request, ServerResponse
from drumbeat.model.errors import (
    Conflict,
    DrumbeatError,
    Forbidden,
    InvalidCron,
    InvalidInput,
    NotFound,
    OversizedArguments,
    RevisionMismatch,
    TokenNameTaken,
    TriggerTooExpensive,
    Unauthorised,
    Unavailable,
    UnknownElection,
    UnknownJob,
    UnknownNode,
    UnknownOperation,
    UnknownQueue,
    UnknownSchedule,
    UnknownTask,
    UnknownToken,
    VersionMismatch,
    WrongStatus,
)
from drumbeat.model.jobs.job import ARGUMENTS_LIMIT
from drumbeat.model.triggers.steps import MOST_STEPS
from drumbeat.wire.problem import KIND, ProblemView

BY_STATUS: Mapping[int, type[DrumbeatError]] = {
    401: Unauthorised,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: Unavailable,
}
SUBJECTS: Mapping[type[DrumbeatError], str] = {
    UnknownElection: "name",
    UnknownJob: "job_id",
    UnknownNode: "name",
    UnknownOperation: "operation_id",
    UnknownQueue: "name",
    UnknownSchedule: "name",
    UnknownToken: "name",
    TokenNameTaken: "name",
}
"""The attribute of an error that has the subject of the request."""
NOT_FOUND = 404
SERVER_ERROR = 500


def error_of(response: ServerResponse, request: Request) -> DrumbeatError:
    """The error that a response stands for, in the words of the server."""
    try:
        problem = msgspec.json.decode(response.body, type=ProblemView)
    except msgspec.DecodeError:
        return _foreign(response.status, request)
    kind = problem.type.removeprefix(KIND)
    known = _BY_KIND.get(kind)
    if known is None:
        return _by_status(response.status, problem.detail)
    error = known.__new__(known)
    error.args = (problem.detail,)
    error.parameter, error.rule = problem.field, problem.rule
    for name, value in _facts(error, problem, request).items():
        setattr(error, name, value)
    return error


def _foreign(status: int, request: Request) -> DrumbeatError:
    """The error for a response that does not come from Drumbeat, but from a proxy or the like."""
    said = f"{request.method} {request.path} was answered with {status}, and not by Drumbeat"
    if status == NOT_FOUND:
        return Unavailable(f"{said}; does its API begin at another path?")
    return _by_status(status, said)


def _by_status(status: int, sentence: str) -> DrumbeatError:
    if status in BY_STATUS:
        return BY_STATUS[status](sentence)
    return Unavailable(sentence) if status >= SERVER_ERROR else InvalidInput(sentence)


def _facts(error: DrumbeatError, problem: ProblemView, request: Request) -> dict[str, Any]:
    """The attributes that the constructor of the error would have set."""
    match error:
        case OversizedArguments():
            size = len(request.body or b"")
            return {"task": request.subject, "size": size, "limit": ARGUMENTS_LIMIT}
        case InvalidCron():
            return {
                "expression": "",
                "field": problem.field or "",
                "problem": problem.detail,
                "allowed": problem.rule or "",
            }
        case TriggerTooExpensive():
            return {"steps": MOST_STEPS}
        case VersionMismatch():
            return {"schedule": request.subject, "version": problem.version}
        case WrongStatus():
            return {"status": None}
        case RevisionMismatch():
            revision = request.headers.get("if-match", "0").strip('"')
            return {"key": request.subject, "revision": int(revision)}
        case UnknownTask():
            return {"name": request.subject, "known": ()}
        case _:
            name = SUBJECTS.get(type(error))
            return {} if name is None else {name: request.subject}


def _classes(root: type[DrumbeatError]) -> Iterator[type[DrumbeatError]]:
    yield root
    for child in root.__subclasses__():
        yield from _classes(child)


_BY_KIND: dict[str, type[DrumbeatError]] = {}
for _class in _classes(DrumbeatError):
    _BY_KIND.setdefault(_class.kind, _class)  # the class that introduces a kind comes first
