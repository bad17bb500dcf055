"""Refusals: a problem of the server becomes the error that the app would have raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from drumbeat.client.request import Request
from drumbeat.model.errors import (
    ConfigurationError,
    Conflict,
    DrumbeatError,
    Forbidden,
    InvalidCron,
    InvalidInput,
    NotFound,
    NotRunning,
    OversizedArguments,
    TriggerTooExpensive,
    Unauthorised,
    Unavailable,
    UnknownJob,
    UnknownSchedule,
    UnknownTask,
    VersionMismatch,
    WaitTimeout,
)
from drumbeat.model.job import ARGUMENTS_LIMIT
from drumbeat.model.steps import MOST_STEPS
from drumbeat.wire.problem import KIND, ProblemView

BY_STATUS: Mapping[int, type[DrumbeatError]] = {
    401: Unauthorised,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: Unavailable,
}
BY_KIND: Mapping[str, type[DrumbeatError]] = {
    "not-in-time": WaitTimeout,
    "invalid-configuration": ConfigurationError,
    "not-running": NotRunning,
}
NOT_FOUND = 404
FAILING = 500


def problem_of(body: bytes) -> ProblemView | None:
    """The problem document, if the answer is one."""
    try:
        return msgspec.json.decode(body, type=ProblemView)
    except msgspec.DecodeError:
        return None


def kind_of(problem: ProblemView) -> str:
    """The word that programs rely on."""
    return problem.type.removeprefix(KIND)


def error_of(status: int, problem: ProblemView | None, request: Request) -> DrumbeatError:
    """The error that a refusal stands for, in the words of the server."""
    if problem is None:
        return _strange(status, request)
    kind = kind_of(problem)
    made = _WITH_FACTS.get(kind)
    if made is not None:
        error = made(problem, request)
        error.args = (problem.detail,)
        return error
    known = BY_KIND.get(kind)
    return known(problem.detail) if known else _by_status(status, problem.detail)


def _strange(status: int, request: Request) -> DrumbeatError:
    """What an answer means that somebody else gave, such as a proxy."""
    said = f"{request.method} {request.path} was answered with {status}, and not by Drumbeat"
    if status == NOT_FOUND:
        return Unavailable(f"{said}; does its API begin at another path?")
    return _by_status(status, said)


def _by_status(status: int, sentence: str) -> DrumbeatError:
    if status in BY_STATUS:
        return BY_STATUS[status](sentence)
    return Unavailable(sentence) if status >= FAILING else InvalidInput(sentence)


def _unknown_job(_problem: ProblemView, request: Request) -> DrumbeatError:
    return UnknownJob(request.about if isinstance(request.about, int) else 0)


def _unknown_schedule(_problem: ProblemView, request: Request) -> DrumbeatError:
    return UnknownSchedule(str(request.about))


def _unknown_task(_problem: ProblemView, request: Request) -> DrumbeatError:
    return UnknownTask(str(request.about))


def _invalid_cron(problem: ProblemView, _request: Request) -> DrumbeatError:
    return InvalidCron("", problem.field or "", problem.detail, problem.rule or "")


def _oversized(_problem: ProblemView, request: Request) -> DrumbeatError:
    return OversizedArguments(str(request.about), len(request.body or b""), ARGUMENTS_LIMIT)


def _version_mismatch(problem: ProblemView, request: Request) -> DrumbeatError:
    return VersionMismatch(str(request.about), problem.version)


_WITH_FACTS: Mapping[str, Callable[[ProblemView, Request], DrumbeatError]] = {
    "unknown-job": _unknown_job,
    "unknown-schedule": _unknown_schedule,
    "unknown-task": _unknown_task,
    "version-mismatch": _version_mismatch,
    "invalid-cron": _invalid_cron,
    "trigger-too-expensive": lambda _problem, _request: TriggerTooExpensive(MOST_STEPS),
    "arguments-too-large": _oversized,
}
