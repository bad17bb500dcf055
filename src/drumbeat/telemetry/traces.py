"""Traces: spans of OpenTelemetry for submitting and for running jobs.

A job may run long after the request that submitted it, again and again, and on another machine.
So each attempt is the root of a trace of its own, with a link to the span that submitted the job:
the conventions for messages ask for that. The job carries the W3C `traceparent` of that span.

Only the API of OpenTelemetry is used. Without an SDK in the process there are no spans, and the
jobs carry nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    get_current_span,
    get_tracer,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from drumbeat.model.jobs.ending import Ending, Raised, TimedOut
from drumbeat.model.jobs.job import Attempt, JobSpec
from drumbeat.ports.clock import Clock
from drumbeat.ports.tracing import Ended
from drumbeat.version import VERSION

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SEVERAL = "several tasks"
W3C = TraceContextTextMapPropagator()
ROOT = Context()
"""The context of a span without a parent."""


class Traces:
    """The spans of one app."""

    def __init__(self, clock: Clock, provider: TracerProvider | None = None) -> None:
        self._clock = clock
        self._tracer = get_tracer("drumbeat", VERSION, provider)

    @contextmanager
    def submitting(self, specs: Sequence[JobSpec]) -> Generator[Sequence[JobSpec]]:
        """A span, under the caller's own if there is one, whose trace the jobs carry."""
        if not specs:
            yield specs
            return
        span = self._tracer.start_span(
            f"submit {_one([spec.task for spec in specs])}",
            kind=SpanKind.PRODUCER,
            attributes=_submission(specs),
            start_time=self._now(),
        )
        try:
            with use_span(span):
                trace = _traceparent(span)
                yield specs if trace is None else [replace(spec, trace=trace) for spec in specs]
        finally:
            span.end(self._now())

    @contextmanager
    def running(self, attempt: Attempt) -> Generator[Ended]:
        """A span without a parent, linked to the one that submitted the job."""
        span = self._tracer.start_span(
            f"run {attempt.spec.task}",
            context=ROOT,
            kind=SpanKind.CONSUMER,
            attributes=_attempt(attempt),
            links=_links(attempt.spec.trace),
            start_time=self._now(),
        )
        try:
            with use_span(span):
                yield lambda ending: _end(span, ending)
        finally:
            span.end(self._now())

    def _now(self) -> int:
        """Nanoseconds since the epoch, as spans count."""
        return (self._clock.now() - EPOCH) // MICROSECOND * 1_000


def _submission(specs: Sequence[JobSpec]) -> dict[str, str | int]:
    queue = _one([spec.queue for spec in specs])
    attributes: dict[str, str | int] = {
        "messaging.system": "drumbeat",
        "messaging.operation.name": "submit",
        "messaging.operation.type": "send",
        "messaging.destination.name": queue,
        "drumbeat.task": _one([spec.task for spec in specs]),
        "drumbeat.queue": queue,
    }
    if len(specs) > 1:
        attributes["messaging.batch.message_count"] = len(specs)
    if specs[0].schedule is not None:
        attributes["drumbeat.schedule"] = specs[0].schedule
    return attributes


def _attempt(attempt: Attempt) -> dict[str, str | int]:
    spec = attempt.spec
    attributes: dict[str, str | int] = {
        "messaging.system": "drumbeat",
        "messaging.operation.name": "run",
        "messaging.operation.type": "process",
        "messaging.destination.name": spec.queue,
        "messaging.message.id": str(attempt.job_id),
        "messaging.client.id": attempt.node,
        "drumbeat.task": spec.task,
        "drumbeat.job_id": attempt.job_id,
        "drumbeat.attempt": attempt.number,
        "drumbeat.queue": spec.queue,
    }
    if spec.schedule is not None:
        attributes["drumbeat.schedule"] = spec.schedule
    if spec.tick_at is not None:
        attributes["drumbeat.tick_at"] = spec.tick_at.isoformat()
    return attributes


def _end(span: Span, ending: Ending) -> None:
    span.set_attribute("drumbeat.ending", type(ending).__name__)
    if isinstance(ending, Raised):
        message = ending.error.rpartition("\n")[2]
        span.add_event(
            "exception",
            {"exception.message": message, "exception.stacktrace": ending.error},
        )
        span.set_status(Status(StatusCode.ERROR, message))
    elif isinstance(ending, TimedOut):
        span.set_status(Status(StatusCode.ERROR, f"timed out after {ending.after:g} s"))


def _traceparent(span: Span) -> str | None:
    carrier: dict[str, str] = {}
    W3C.inject(carrier)  # the span is the current one; nothing if there is no SDK
    return carrier.get("traceparent") if span.get_span_context().is_valid else None


def _links(trace: str | None) -> list[Link]:
    if trace is None:
        return []
    submitted = get_current_span(W3C.extract({"traceparent": trace}, ROOT)).get_span_context()
    return [Link(submitted)] if submitted.is_valid else []


def _one(names: Sequence[str]) -> str:
    return names[0] if len(set(names)) == 1 else SEVERAL
