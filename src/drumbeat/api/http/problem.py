"""Problems: why a request is rejected, and how to repair it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drumbeat.api.http.response import Response, encode
from drumbeat.model.errors import (
    ConfigurationError,
    Conflict,
    DrumbeatError,
    InvalidInput,
    NotFound,
    NotRunning,
    OversizedArguments,
    OversizedValue,
    RevisionMismatch,
    TooManyStreams,
    Unavailable,
    VersionMismatch,
    WaitTimeout,
)
from drumbeat.wire.problem import KIND, MEDIA_TYPE, ProblemView

TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This is not allowed",
    404: "There is no such thing",
    405: "This cannot be done here",
    408: "The request took too long",
    409: "This clashes with what is there",
    412: "It has changed meanwhile",
    413: "The request is too large",
    415: "The request is not JSON",
    422: "The request is not valid",
    429: "Too many requests",
    500: "Something broke",
    503: "The service is not available",
    504: "It did not happen in time",
}

STATUSES: Sequence[tuple[type[DrumbeatError], int]] = (
    (OversizedArguments, 413),
    (OversizedValue, 413),
    (InvalidInput, 422),
    (NotFound, 404),
    (VersionMismatch, 412),
    (RevisionMismatch, 412),
    (Conflict, 409),
    (WaitTimeout, 504),
    (ConfigurationError, 422),
    (NotRunning, 503),
    (TooManyStreams, 429),
    (Unavailable, 503),
)
"""The first class that an error belongs to decides."""
RETRY_AFTER = {429: "10", 503: "2"}
"""Seconds, by status."""
AGAINST_A_RULE = 422
"""The status of a request that is readable and invalid. Its problem always names the rule."""


CHALLENGE = {"www-authenticate": 'Bearer realm="drumbeat"'}


@dataclass(slots=True)
class Problem(Exception):
    """A rejected request. `kind` is a stable word for programs, `detail` a sentence for people."""

    status: int
    kind: str
    detail: str
    field: str | None = None
    rule: str | None = None
    headers: Mapping[str, str] | None = None
    version: int | None = None

    def view(self) -> ProblemView:
        """The problem document."""
        return ProblemView(
            type=KIND + self.kind,
            title=TITLES.get(self.status, "The request was refused"),
            status=self.status,
            detail=self.detail,
            field=self.field,
            rule=self.rule or (self.detail if self.status == AGAINST_A_RULE else None),
            version=self.version,
        )

    def response(self) -> Response:
        """The response with the problem document."""
        return Response(self.status, encode(self.view()), MEDIA_TYPE, self.headers or {})


def unauthorised(detail: str, kind: str = "token-missing") -> Problem:
    """The problem of a caller without valid credentials."""
    return Problem(401, kind, detail, headers=CHALLENGE)


def problem_of(error: DrumbeatError) -> Problem:
    """The problem document for an error."""
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    problem = Problem(status, error.kind, str(error), error.parameter, error.rule)
    if isinstance(error, VersionMismatch) and error.version is not None:
        problem.version = error.version
        problem.headers = {"etag": f'"{error.version}"'}
    if status in RETRY_AFTER:
        problem.headers = {"retry-after": RETRY_AFTER[status]}
    return problem
