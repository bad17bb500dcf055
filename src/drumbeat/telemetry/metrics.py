"""Metrics: what a node tells those who watch it.

One object for each app. The measured store and the bus feed it; a scrape refreshes it and reads it:

    metrics = Metrics(runtime.clock)
    store = metrics.measured(store)            # before anything else has the store
    metrics.attach(bus, store, vitals)         # from then on, events are counted
    await metrics.refresh()                    # at a scrape: asks the store, through a cache
    body, content_type = metrics.text(accept)

Where there is no such object, no operation is timed and no event is made for its sake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.job import Status
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.telemetry import samples
from drumbeat.telemetry.census import Census
from drumbeat.telemetry.figures import Figures
from drumbeat.telemetry.hearing import Hearing, Hears
from drumbeat.telemetry.measured import measured
from drumbeat.telemetry.samples import Sample
from drumbeat.telemetry.vitals import Vitals

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from drumbeat.telemetry.exposition import Exposition


class Metrics:
    """The figures of one node, and how to show them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._figures = Figures()
        self._census: Census | None = None
        self._vitals: Callable[[], Vitals] = Vitals
        self._exposition = _exposition(self._samples)

    @property
    def registry(self) -> CollectorRegistry:
        """The registry of these metrics alone; metrics of an app's own may be added to it."""
        return self._exposition.registry

    def measured(self, store: Store) -> Store:
        """The store, with every operation timed. To be used in place of the store itself."""
        return measured(store, self._figures, self._clock)

    def attach(self, bus: Hears, store: Store, vitals: Callable[[], Vitals]) -> None:
        """Count what the bus tells, and ask the store and the node at each scrape."""
        Hearing(self._figures).attach(bus)
        self._census = Census(store, self._clock)
        self._vitals = vitals

    async def refresh(self) -> None:
        """Ask the store how many jobs stand where, unless it was asked a moment ago.

        Never raises, and returns within about a second also when the store does not answer.
        """
        if self._census is not None:
            await self._census.refresh()
        self._reserve_names()

    def _reserve_names(self) -> None:
        """Keep the labels of queues that are served and tasks that are known."""
        vitals, count = self._vitals(), self._census.latest if self._census else None
        served = count.served if count else frozenset[str]()
        self._figures.queues.reserve(vitals.queues | served)
        self._figures.waits.reserve(vitals.tasks)
        self._figures.runs.reserve(vitals.tasks)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """All metrics, and their content type: OpenMetrics if that is accepted, else plain text."""
        return self._exposition.text(accept)

    def summary(self) -> dict[str, int | None]:
        """The state of the fleet in a few numbers; None: the store did not answer.

        `completed_jobs` and `failed_jobs` count all jobs ever. `jobs_dispatched` counts the jobs
        of the whole fleet that a worker has or has brought to an end. `last_dispatch` is when
        this node last claimed one, or last saw that number rise.
        """
        count = self._census.latest if self._census is not None else None
        moments = (self._figures.claimed_at, self._census and self._census.dispatched_at)
        return {
            "timestamp": int(self._clock.now().timestamp()),
            "pending_jobs": None if count is None else count.standing(Status.PENDING),
            "queued_jobs": None if count is None else count.standing(Status.QUEUED),
            "running_jobs": None if count is None else count.standing(Status.RUNNING),
            "completed_jobs": None if count is None else count.ever(Status.COMPLETED),
            "failed_jobs": None if count is None else count.ever(Status.FAILED),
            "jobs_dispatched": None if count is None else count.dispatched,
            "last_dispatch": max((int(each.timestamp()) for each in moments if each), default=None),
        }

    def _samples(self) -> Iterator[Sample]:
        yield from samples.of_node(self._vitals())
        yield from samples.of_figures(self._figures)
        if self._census is not None and self._census.asked:
            yield from samples.of_census(self._census.latest)


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
