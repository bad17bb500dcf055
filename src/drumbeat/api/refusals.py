"""Refusals: the errors of the engine, as problems that HTTP knows."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from drumbeat.api.problem import Problem
from drumbeat.model.errors import (
    ConfigurationError,
    Conflict,
    DrumbeatError,
    InvalidArguments,
    InvalidCron,
    InvalidInput,
    InvalidPage,
    InvalidPolicy,
    InvalidTrigger,
    NaiveDatetime,
    NotFound,
    NotRunning,
    OversizedArguments,
    TriggerTooExpensive,
    Unavailable,
    UnknownJob,
    UnknownSchedule,
    UnknownTask,
    UnknownZone,
    VersionMismatch,
    WaitTimeout,
)
from drumbeat.model.job import Status
from drumbeat.model.policy import Misfire, Overlap, RunOn
from drumbeat.model.retry import Strategy
from drumbeat.model.token import Scope
from drumbeat.model.zones import DstGap, DstRepeat
from drumbeat.wire.event import EventKind
from drumbeat.wire.fields import NO_NUL

AT = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
NAMED = re.compile(r"(?:unknown|missing required) field `(?P<name>[^`]*)`$")
OUT_OF_RANGE = re.compile(r"^(?P<name>[a-z_.]+) must lie between ")
"""How `in_range` begins: it is called for the object that has the field, not for the field."""
NUL = f"matching regex {NO_NUL!r}"
NOT_A_WORD = "Invalid enum value"
WORDS: Mapping[str, Iterable[str]] = {
    "status": Status,
    "misfire": Misfire,
    "overlap": Overlap,
    "run_on": RunOn,
    "dst_gap": DstGap,
    "dst_repeat": DstRepeat,
    "strategy": Strategy,
    "scope": Scope,
    "kinds": EventKind,
}
"""The words that a field takes, wherever it stands."""
RETRY_SECONDS = "2"

KINDS: Sequence[tuple[type[DrumbeatError], int, str]] = (
    (OversizedArguments, 413, "arguments-too-large"),
    (InvalidCron, 422, "invalid-cron"),
    (TriggerTooExpensive, 422, "trigger-too-expensive"),
    (InvalidInput, 422, "invalid-input"),
    (UnknownJob, 404, "unknown-job"),
    (UnknownSchedule, 404, "unknown-schedule"),
    (UnknownTask, 404, "unknown-task"),
    (NotFound, 404, "not-found"),
    (VersionMismatch, 412, "version-mismatch"),
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
    if isinstance(error, VersionMismatch) and error.version is not None:
        problem.version = error.version
        problem.headers = {"etag": f'"{error.version}"'}
    if status == 503:
        problem.headers = {"retry-after": RETRY_SECONDS}
    return problem


@contextmanager
def about(field: str) -> Generator[None]:
    """Whatever is refused within is the fault of this field, unless it is told whose it is."""
    try:
        yield
    except InvalidInput as error:
        problem = refusal(error)
        problem.field = problem.field or field
        raise problem from None


def unreadable(error: msgspec.DecodeError, part: str) -> Problem:
    """The problem of a body or a query that is not what the route reads."""
    text = str(error)
    found = AT.search(text)
    if not isinstance(error, msgspec.ValidationError):
        return Problem(400, "not-json", f"the {part} is not JSON: {text}")
    rule = text[: found.start()] if found else text
    field = found["path"] if found else None
    where = f"{part}, {field}" if field else part
    if rule.startswith(NOT_A_WORD) and field and (words := WORDS.get(_last(field))):
        rule = f"{rule}; allowed: {', '.join(words)}"
    rule = rule.replace(NUL, "without a NUL")
    if named := NAMED.search(rule) or OUT_OF_RANGE.search(rule):
        field = ".".join(filter(None, (field, named["name"])))
    return Problem(422, "invalid-input", f"{where}: {rule}", field=field or None, rule=rule)


def _last(path: str) -> str:
    """The name at the end of a path: `status` of `filter.status[0]`."""
    return path.rpartition(".")[2].partition("[")[0]


def _field(error: DrumbeatError) -> str | None:
    match error:
        case InvalidTrigger():
            return "when"
        case UnknownZone():
            return "tz"
        case InvalidPolicy():
            return "policies"
        case InvalidPage():
            return "after"
        case InvalidArguments():
            return "args"
        case NaiveDatetime(field=field):
            return field
        case OversizedArguments():
            return "args"
        case _:
            return None
