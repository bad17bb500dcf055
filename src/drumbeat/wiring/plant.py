"""What all parts of a node share."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.backends import Backends, extra
from drumbeat.config import Config
from drumbeat.engine.bus import Bus
from drumbeat.engine.registry import Registry
from drumbeat.engine.submitter import Submitter
from drumbeat.engine.traced import TracedJoining, TracedSubmitter
from drumbeat.ports.joining import Joining
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.tracing import Tracing


@dataclass(frozen=True, slots=True)
class Plant:
    """What all parts of a node share."""

    backends: Backends
    config: Config
    registry: Registry
    runtime: Runtime
    bus: Bus
    followers_idle: bool = False
    """Whether a node takes jobs only while it leads."""
    tracing: Tracing | None = None
    """Who is told of jobs that are submitted and run; None: nobody."""


def tracing_of(config: Config, runtime: Runtime) -> Tracing | None:
    """Spans of OpenTelemetry, if the settings ask for them."""
    if not config.tracing:
        return None
    with extra("tracing", "otel", "opentelemetry"):
        from drumbeat.telemetry.traces import Traces  # noqa: PLC0415 - only if it is asked for

    return Traces(runtime.clock)


def submitting_of(
    backends: Backends, bus: Bus, tracing: Tracing | None
) -> tuple[Submitter, Joining | None]:
    """Both ways of creating jobs: over our own connections, and over a caller's."""
    store, queue = backends.store, backends.queue
    if tracing is None:
        return Submitter(store, queue, bus), store.joining
    joining = None if store.joining is None else TracedJoining(store.joining, tracing)
    return TracedSubmitter(store, queue, bus, tracing), joining
