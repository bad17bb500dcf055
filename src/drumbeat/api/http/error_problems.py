"""The one place that maps errors to the problems of HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.api.http.problem import Problem
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
