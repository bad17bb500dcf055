"""The metrics of a node.

One object per app. The timed store and the event bus feed it; a scrape refreshes and reads it:

    metrics = Metrics(runtime.clock)
    store = metrics.timed_store(store)         # before anything else uses the store
    metrics.attach(bus, store, node_status)    # counts events from now on
    await metrics.refresh()                    # at a scrape: reads the store through a cache
    body, content_type = metrics.text(accept)

Without such an object nothing is timed, and no event is created for counting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.jobs.job import Status
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.telemetry import samples
from drumbeat.telemetry.event_counters import EventSource, count_events
from drumbeat.telemetry.instruments import Instruments
from drumbeat.telemetry.samples import NodeStatus, Sample
from drumbeat.telemetry.snapshot import Snapshot, SnapshotCache
from drumbeat.telemetry.ticket_watch import CountedQueue, TicketWatch
from drumbeat.telemetry.timed_store import timed_store

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from drumbeat.telemetry.exposition import Exposition


class Metrics:
    """Collects and shows the metrics of one node."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._instruments = Instruments()
        self._snapshots: SnapshotCache | None = None
        self._tickets: TicketWatch | None = None
        self._node_status: Callable[[], NodeStatus] = NodeStatus
        self._exposition = _exposition(self._samples)

    @property
    def registry(self) -> CollectorRegistry:
        """The registry of these metrics; an app may add its own."""
        return self._exposition.registry

    def timed_store(self, store: Store) -> Store:
        return timed_store(store, self._instruments, self._clock)

    def attach(self, bus: EventSource, store: Store, node_status: Callable[[], NodeStatus]) -> None:
        """Count events from now on; read the store and the node at each scrape."""
        count_events(bus, self._instruments)
        self._snapshots = SnapshotCache(store, self._clock)
        self._node_status = node_status

    def watch_tickets(self, queue: CountedQueue) -> None:
        """Count the tickets of this queue, too."""
        self._tickets = TicketWatch(queue, self._clock)

    async def refresh(self) -> None:
        """Read the counts of jobs from the store, unless they are fresh.

        Never raises, and returns within about a second even if the store does not answer.
        """
        if self._snapshots is not None:
            await self._snapshots.refresh()
        if self._tickets is not None:
            await self._tickets.refresh()
        self._reserve_names()

    @property
    def _latest(self) -> Snapshot | None:
        return None if self._snapshots is None else self._snapshots.latest

    def _reserve_names(self) -> None:
        """Always give served queues and registered tasks a label."""
        node_status, count = self._node_status(), self._latest
        served = count.served if count else frozenset[str]()
        self._instruments.queues.reserve(node_status.queues | served)
        self._instruments.waits.reserve(node_status.tasks)
        self._instruments.runs.reserve(node_status.tasks)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """All metrics and their content type: OpenMetrics if accepted, else plain text."""
        return self._exposition.text(accept)

    def summary(self) -> dict[str, int | None]:
        """The state of the fleet in a few numbers; None: the store did not answer.

        `completed_jobs` and `failed_jobs` count all jobs ever. `jobs_dispatched` counts the jobs
        of the fleet that a worker runs or has run to an end. `last_dispatch` is when one of them
        was last claimed: by this node, or by another, which reports it with its heartbeats.
        """
        count = self._latest
        reported = None if self._snapshots is None else self._snapshots.claimed_at
        moments = self._instruments.claimed_at, reported
        return {
            "timestamp": int(self._clock.now().timestamp()),
            "pending_jobs": None if count is None else count.current(Status.PENDING),
            "queued_jobs": None if count is None else count.current(Status.QUEUED),
            "running_jobs": None if count is None else count.current(Status.RUNNING),
            "completed_jobs": None if count is None else count.ever(Status.COMPLETED),
            "failed_jobs": None if count is None else count.ever(Status.FAILED),
            "jobs_dispatched": None if count is None else count.dispatched,
            "last_dispatch": max((int(each.timestamp()) for each in moments if each), default=None),
        }

    def _samples(self) -> Iterator[Sample]:
        yield from samples.of_node(self._node_status())
        yield from samples.of_instruments(self._instruments)
        if self._snapshots is not None and self._snapshots.asked:
            yield from samples.of_snapshot(self._snapshots.latest)
        if self._tickets is not None:
            yield from self._tickets.samples(self._instruments.republished)


def _exposition(gather: Callable[[], Iterator[Sample]]) -> Exposition:
    try:
        from drumbeat.telemetry.exposition import Exposition  # noqa: PLC0415 - the extra `api`
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "prometheus_client":
            raise
        raise ConfigurationError(
            f"HTTP and metrics need the extra api: {install_command('api')}"
        ) from None
    return Exposition(gather)
