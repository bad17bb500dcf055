"""Refusals: the errors of the engine, as problems that HTTP knows."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from drumbeat.api.problem import Problem
from drumbeat.model.errors import (
    ConfigurationError,
    Conflict,
    DrumbeatError,
    InvalidCron,
    InvalidInput,
    NaiveDatetime,
    NotFound,
    NotRunning,
    OversizedArguments,
    Unavailable,
    UnknownJob,
    UnknownSchedule,
    UnknownTask,
    WaitTimeout,
)

AT = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
RETRY_SECONDS = "2"

KINDS: Sequence[tuple[type[DrumbeatError], int, str]] = (
    (OversizedArguments, 413, "arguments-too-large"),
    (InvalidCron, 422, "invalid-cron"),
    (InvalidInput, 422, "invalid-input"),
    (UnknownJob, 404, "unknown-job"),
    (UnknownSchedule, 404, "unknown-schedule"),
    (UnknownTask, 404, "unknown-task"),
    (NotFound, 404, "not-found"),
    (Conflict, 409, "conflict"),
    (WaitTimeout, 504, "not-in-time"),
    (ConfigurationError, 422, "invalid-configuration"),
    (NotRunning, 503, "not-running"),
    (Unavailable, 503, "store-unavailable"),
)


def refusal(error: DrumbeatError) -> Problem:
    """The problem that an error of the engine is to whoever asked."""
    status, word = next(
        ((status, word) for kind, status, word in KINDS if isinstance(error, kind)),
        (500, "error"),
    )
    problem = Problem(status, word, str(error), field=_field(error))
    if isinstance(error, InvalidCron):
        problem.rule = error.allowed
    if status == 503:
        problem.headers = {"retry-after": RETRY_SECONDS}
    return problem


def unreadable(error: msgspec.DecodeError, part: str) -> Problem:
    """The problem of a body or a query that is not what the route reads."""
    text = str(error)
    found = AT.search(text)
    if not isinstance(error, msgspec.ValidationError):
        return Problem(400, "not-json", f"the {part} is not JSON: {text}")
    rule = text[: found.start()] if found else text
    field = found["path"] if found else None
    where = f"{part}, {field}" if field else part
    return Problem(422, "invalid-input", f"{where}: {rule}", field=field or None, rule=rule)


def _field(error: DrumbeatError) -> str | None:
    match error:
        case InvalidCron():
            return "when"
        case NaiveDatetime(field=field):
            return field
        case OversizedArguments():
            return "args"
        case _:
            return None
