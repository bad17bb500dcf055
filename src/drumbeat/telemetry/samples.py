"""The samples of a scrape: from the instruments, the snapshot and the node's status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import QueueRecord
from drumbeat.telemetry import families
from drumbeat.telemetry.counters import Histogram, LabelledCounter, LabelNames, Labels
from drumbeat.telemetry.families import Family
from drumbeat.telemetry.instruments import Instruments
from drumbeat.telemetry.snapshot import Snapshot
from drumbeat.version import VERSION


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """What a node knows about itself. The defaults are those of a node that does not run."""

    epoch: int | None = None
    """The epoch of its present term; None: it does not lead."""
    lease_remaining: float = 0.0
    """Seconds for which it may act as the leader without a renewal."""
    slots: int = 0
    busy: int = 0
    queues: frozenset[str] = frozenset()
    """The queues that its settings name."""
    tasks: frozenset[str] = frozenset()
    """The tasks that are registered."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One number, or one histogram, with its labels."""

    family: Family
    value: float | Histogram
    labels: Labels = ()


def of_node(status: NodeStatus) -> Iterator[Sample]:
    leads = status.epoch is not None
    yield Sample(families.LEADER_STATUS, int(leads))
    yield Sample(families.LEADER_LEASE_REMAINING, max(0.0, status.lease_remaining) if leads else 0)
    yield Sample(families.LEADER_EPOCH, status.epoch or 0)
    yield Sample(families.WORKER_SLOTS, status.slots)
    yield Sample(families.WORKER_SLOTS_BUSY, status.busy)
    yield Sample(families.BUILD_INFO, 1, (VERSION,))


def of_instruments(instruments: Instruments) -> Iterator[Sample]:
    yield Sample(families.LEADER_TRANSITIONS, instruments.transitions)
    yield Sample(families.SCHEDULES_UNKNOWN, instruments.unknown_schedules)
    yield Sample(families.SCHEDULE_LAG, instruments.lag)
    yield from _of_counter(families.DEATHS_NOTICED, instruments.deaths)
    yield from _of_counter(families.SCHEDULE_TICKS, instruments.ticks)
    yield from _of_counter(families.JOBS_SUBMITTED, instruments.submitted)
    yield from _of_counter(families.JOBS_FINISHED, instruments.finished)
    yield from _of_counter(families.STORE_ERRORS, instruments.errors)
    for family, histograms in (
        (families.JOB_WAIT, instruments.waits),
        (families.JOB_RUN, instruments.runs),
        (families.STORE_OPERATION, instruments.operations),
    ):
        for name, histogram in histograms.items():
            yield Sample(family, histogram, (name,))


def of_snapshot(snapshot: Snapshot | None) -> Iterator[Sample]:
    """What the store last answered. None: it did not, which shows it as down."""
    yield Sample(families.STORE_UP, int(snapshot is not None))
    if snapshot is None:
        return
    yield Sample(families.CLOCK_SKEW, snapshot.skew.total_seconds())
    yield from _of_queues(snapshot)


def _of_queues(snapshot: Snapshot) -> Iterator[Sample]:
    names = LabelNames()
    names.reserve(snapshot.served)
    jobs: Counter[Labels] = Counter()
    ages: dict[Labels, float] = {}
    for queue in snapshot.queues:
        name = names.of(queue.name)
        for status in Status:
            jobs[status.value, name] += queue.counts.get(status, 0)
        ages[name,] = max(ages.get((name,), 0.0), _age(queue, snapshot))
    for labels, number in jobs.items():
        yield Sample(families.JOBS, number, labels)
    for labels, age in ages.items():
        yield Sample(families.QUEUE_OLDEST_AGE, age, labels)


def _age(queue: QueueRecord, snapshot: Snapshot) -> float:
    if queue.oldest_at is None:
        return 0.0
    return max(0.0, (snapshot.as_of - queue.oldest_at).total_seconds())


def _of_counter(family: Family, counter: LabelledCounter) -> Iterator[Sample]:
    for labels, number in counter.items():
        yield Sample(family, number, labels)
