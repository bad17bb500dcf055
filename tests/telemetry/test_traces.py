"""Spans: a job can be followed from the request that submitted it to each of its attempts."""

from __future__ import annotations

import asyncio
import builtins
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode

from drumbeat import Drumbeat, Retry, every
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.jobs.job import JobSpec
from drumbeat.telemetry.traces import Traces
from drumbeat.testing.clock import START, FakeClock
from drumbeat.testing.runtime import FakeRuntime
from servers import Postgres

from .support import Fault

asyncpg: Any = pytest.importorskip("asyncpg")  # which has no types

TRACER = trace.get_tracer("tests")


@pytest.fixture(scope="session")
def exporter() -> InMemorySpanExporter:
    """A process has one provider for good, so all tests share it."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


class Spans:
    """What was exported since the test began."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    @property
    def names(self) -> list[str]:
        return sorted(span.name for span in self._exporter.get_finished_spans())


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[Spans]:
    exporter.clear()
    yield Spans(exporter)
    exporter.clear()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        return server.address
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"


def traced_app(address: str | MemoryStore, **settings: Any) -> Drumbeat:
    namespace = f"test_{uuid4().hex}"
    return Drumbeat(address, environment={}, tracing=True, namespace=namespace, **settings)


def trace_of(span: ReadableSpan) -> int:
    return address_of(span)[0]


def links_of(span: ReadableSpan) -> Sequence[tuple[int, int]]:
    return [(link.context.trace_id, link.context.span_id) for link in span.links]


def address_of(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


async def test_a_job_leads_from_its_run_back_to_the_request(spans: Spans, address: str) -> None:
    app = traced_app(address)

    @app.task(retry=Retry.linear(3, 2.0), timeout=30)
    async def greet(name: str) -> str:
        return name

    async with app.running():
        with TRACER.start_as_current_span("request") as request:
            job = await greet.submit("Ada")
        await app.jobs.wait(job.id, timeout=60)
        kept = await app.jobs.get(job.id)
    submit, run = spans.one("submit greet"), spans.one("run greet")
    assert submit.kind is SpanKind.PRODUCER
    assert submit.parent is not None
    assert submit.parent.span_id == request.get_span_context().span_id
    assert kept.spec.trace is not None
    assert kept.spec.trace.startswith(f"00-{trace_of(submit):032x}-{address_of(submit)[1]:016x}-")
    assert run.kind is SpanKind.CONSUMER
    assert run.parent is None
    assert trace_of(run) != trace_of(submit)
    assert links_of(run) == [address_of(submit)]
    assert dict(run.attributes or {}) == {
        "messaging.system": "drumbeat",
        "messaging.operation.name": "run",
        "messaging.operation.type": "process",
        "messaging.destination.name": "default",
        "messaging.message.id": str(job.id),
        "messaging.client.id": app.id,
        "drumbeat.task": "greet",
        "drumbeat.job_id": job.id,
        "drumbeat.attempt": 1,
        "drumbeat.queue": "default",
        "drumbeat.ending": "Returned",
    }
    assert dict(submit.attributes or {}) == {
        "messaging.system": "drumbeat",
        "messaging.operation.name": "submit",
        "messaging.operation.type": "send",
        "messaging.destination.name": "default",
        "drumbeat.task": "greet",
        "drumbeat.queue": "default",
    }
    assert run.status.status_code is StatusCode.UNSET
    assert spans.names == ["request", "run greet", "submit greet"]


async def test_each_attempt_is_a_trace_of_its_own(spans: Spans) -> None:
    clock = FakeClock()
    app = traced_app("memory://", runtime=FakeRuntime(clock))

    @app.task(retry=Retry.linear(1, 5.0))
    async def fail() -> None:
        await clock.sleep(2)
        raise ValueError("no such door")

    await app.start()
    job = await fail.submit()
    await clock.until(app.jobs.wait(job.id))
    await clock.until(app.stop(0))
    first, second = spans.named("run fail")
    assert trace_of(first) != trace_of(second)
    assert links_of(first) == links_of(second) == [address_of(spans.one("submit fail"))]
    assert [(span.attributes or {})["drumbeat.attempt"] for span in (first, second)] == [1, 2]
    assert first.status.status_code is StatusCode.ERROR
    assert first.status.description == "ValueError: no such door"
    (event,) = first.events
    assert "Traceback" in str((event.attributes or {})["exception.stacktrace"])
    started = int(START.timestamp()) * 10**9
    assert (first.start_time, first.end_time) == (started, started + 2 * 10**9)


async def test_a_job_that_takes_too_long_is_an_error(spans: Spans) -> None:
    clock = FakeClock()
    app = traced_app("memory://", runtime=FakeRuntime(clock))

    @app.task(timeout=3, retry=Retry.never())
    async def hang() -> None:
        await clock.sleep(60)

    await app.start()
    job = await hang.submit()
    await clock.until(app.jobs.wait(job.id))
    await clock.until(app.stop(0))
    assert spans.one("run hang").status.description == "timed out after 3 s"


async def test_what_a_handler_does_belongs_to_its_run(spans: Spans) -> None:
    app = traced_app("memory://")

    @app.task
    async def on_the_loop() -> None:
        with TRACER.start_as_current_span("query"):
            await asyncio.to_thread(lambda: None)

    @app.task
    def in_a_thread() -> None:
        with TRACER.start_as_current_span("read"):
            pass

    async with app.running():
        jobs = [await on_the_loop.submit(), await in_a_thread.submit()]
        for job in jobs:
            await app.jobs.wait(job.id, timeout=60)
        assert not trace.get_current_span().get_span_context().is_valid
    for inner, outer in (("query", "run on_the_loop"), ("read", "run in_a_thread")):
        parent = spans.one(inner).parent
        assert parent is not None
        assert (parent.trace_id, parent.span_id) == address_of(spans.one(outer))


async def test_the_job_of_a_tick_names_the_tick(spans: Spans) -> None:
    clock = FakeClock()
    app = traced_app("memory://", runtime=FakeRuntime(clock))

    @app.scheduled(every(minutes=1))
    async def beat() -> None: ...

    with TRACER.start_as_current_span("whoever starts the app"):
        await app.start()
    await clock.advance(61)
    await clock.until(app.stop(0))
    run = spans.one("run beat")
    attributes = run.attributes or {}
    assert attributes["drumbeat.schedule"] == "beat"
    assert attributes["drumbeat.tick_at"] == START.replace(minute=1).isoformat()
    assert (run.parent, links_of(run)) == (None, [])


async def test_many_jobs_are_submitted_in_one_span(spans: Spans) -> None:
    app = traced_app("memory://")

    @app.task
    async def greet(name: str) -> None: ...

    jobs = await greet.submit_many([("Ada",), ("Ben",), ("Cleo",)])
    submit = spans.one("submit greet")
    assert (submit.attributes or {})["messaging.batch.message_count"] == 3
    assert len({job.spec.trace for job in jobs}) == 1
    await greet.submit_many([])
    assert spans.names == ["submit greet"]


async def test_jobs_of_several_tasks_say_so(spans: Spans) -> None:
    traces = Traces(FakeClock())
    with traces.submitting([JobSpec("a"), JobSpec("b", queue="q")]):
        pass
    assert (spans.one("submit several tasks").attributes or {})["drumbeat.queue"] == "several tasks"


async def test_a_submission_that_fails_is_an_error(spans: Spans) -> None:
    store = MemoryStore(FakeClock())
    Fault(store.jobs, "insert").mode = "fail"
    app = traced_app(store)
    with pytest.raises(Unavailable):
        await app.submit(JobSpec("send"))
    assert spans.one("submit send").status.status_code is StatusCode.ERROR


async def test_code_without_a_loop_hands_its_trace_on(spans: Spans) -> None:
    app = traced_app("memory://")

    @app.task
    async def greet() -> None: ...

    def synchronous() -> None:
        with TRACER.start_as_current_span("request"):
            greet.submit_sync()

    async with app.running(["worker"]):
        await asyncio.to_thread(synchronous)
    assert trace_of(spans.one("submit greet")) == trace_of(spans.one("request"))


async def test_a_job_of_a_callers_transaction_carries_its_trace(
    spans: Spans, postgres: Postgres
) -> None:
    app = traced_app(postgres.address)

    @app.task
    async def greet() -> None: ...

    async with app.running():
        connection = await asyncpg.connect(postgres.address)
        try:
            async with connection.transaction():
                job = await greet.options(connection=connection).submit()
        finally:
            await connection.close()
        await app.jobs.wait(job.id, timeout=60)
    assert links_of(spans.one("run greet")) == [address_of(spans.one("submit greet"))]


async def test_without_the_setting_nothing_is_traced(spans: Spans) -> None:
    app = Drumbeat("memory://", environment={})

    @app.task
    async def greet() -> None: ...

    async with app.running():
        with TRACER.start_as_current_span("request"):
            job = await greet.submit()
        await app.jobs.wait(job.id, timeout=60)
    assert job.spec.trace is None
    assert spans.names == ["request"]


async def test_without_an_sdk_jobs_carry_nothing() -> None:
    traces = Traces(FakeClock(), NoOpTracerProvider())
    specs = [JobSpec("send")]
    with traces.submitting(specs) as traced:
        assert traced is specs


@pytest.mark.parametrize("broken", ["", "nonsense", "00-0-0-00"])
async def test_a_trace_that_cannot_be_read_is_no_link(spans: Spans, broken: str) -> None:
    clock = FakeClock()
    app = traced_app("memory://", runtime=FakeRuntime(clock))

    @app.task
    async def greet() -> None: ...

    await app.store.jobs.insert([JobSpec("greet", trace=broken)])
    await app.start()
    await clock.advance(1)
    await clock.until(app.stop(0))
    assert links_of(spans.one("run greet")) == []


def test_spans_count_whole_microseconds(spans: Spans) -> None:
    clock = FakeClock(datetime(2030, 1, 1, 0, 0, 0, 123457, tzinfo=UTC))
    with Traces(clock).submitting([JobSpec("send")]):
        pass
    started = spans.one("submit send").start_time
    assert started is not None
    assert started % 10**9 == 123457000


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refusing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(name=name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "drumbeat.telemetry.traces")
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ConfigurationError) as refused:
        Drumbeat("memory://", environment={}, tracing=True)
    assert str(refused.value) == f"tracing needs the extra otel: {install_command('otel')}"
