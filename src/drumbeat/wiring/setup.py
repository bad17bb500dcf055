"""What all parts of a node share."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.backend_factory import Backends, extra
from drumbeat.config import Config
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.submitting.traced import TracedJoining, TracedSubmitter
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.ports.caller_transaction import Joining
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.tracing import Tracing


@dataclass(frozen=True, slots=True)
class NodeSetup:
    """What all parts of a node share."""

    backends: Backends
    config: Config
    registry: TaskRegistry
    runtime: Runtime
    bus: Bus
    followers_idle: bool = False
    """Whether a node takes jobs only while it leads."""
    tracing: Tracing | None = None
    """Traces the jobs that are submitted and run; None: tracing is off."""

    @property
    def context(self) -> ServiceContext:
        return ServiceContext(self.runtime, self.bus)


def tracing_of(config: Config, runtime: Runtime) -> Tracing | None:
    """OpenTelemetry tracing, if the settings ask for it."""
    if not config.tracing:
        return None
    with extra("tracing", "otel", "opentelemetry"):
        from drumbeat.telemetry.traces import Traces  # noqa: PLC0415 - only if it is asked for

    return Traces(runtime.clock)


def submitting_of(
    backends: Backends, bus: Bus, tracing: Tracing | None
) -> tuple[Submitter, Joining | None]:
    """The two ways to create jobs: over our own connections, and over a caller's."""
    store, queue = backends.store, backends.queue
    if tracing is None:
        return Submitter(store, queue, bus), store.joining
    joining = None if store.joining is None else TracedJoining(store.joining, tracing)
    return TracedSubmitter(store, queue, bus, tracing), joining
