"""Samples: what a scrape shows, gathered from the figures, the census and the node's vitals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from drumbeat.model.job import Status
from drumbeat.model.queue import QueueRecord
from drumbeat.telemetry import families
from drumbeat.telemetry.census import Count
from drumbeat.telemetry.families import Family
from drumbeat.telemetry.figures import Figures
from drumbeat.telemetry.tallies import Labels, Names, Spread, Tally
from drumbeat.telemetry.vitals import Vitals
from drumbeat.version import VERSION


@dataclass(frozen=True, slots=True)
class Sample:
    """One number, or one histogram, with its labels."""

    family: Family
    value: float | Spread
    labels: Labels = ()


def of_node(vitals: Vitals) -> Iterator[Sample]:
    """What the node says of itself."""
    leads = vitals.epoch is not None
    yield Sample(families.LEADER_STATUS, int(leads))
    yield Sample(families.LEADER_LEASE_REMAINING, max(0.0, vitals.lease_remaining) if leads else 0)
    yield Sample(families.LEADER_EPOCH, vitals.epoch or 0)
    yield Sample(families.WORKER_SLOTS, vitals.slots)
    yield Sample(families.WORKER_SLOTS_BUSY, vitals.busy)
    yield Sample(families.BUILD_INFO, 1, (VERSION,))


def of_figures(figures: Figures) -> Iterator[Sample]:
    """What was counted and measured."""
    yield Sample(families.LEADER_TRANSITIONS, figures.transitions)
    yield Sample(families.SCHEDULES_UNKNOWN, figures.unknown_schedules)
    yield Sample(families.SCHEDULE_LAG, figures.lag)
    yield from _of_tally(families.SCHEDULE_TICKS, figures.ticks)
    yield from _of_tally(families.JOBS_SUBMITTED, figures.submitted)
    yield from _of_tally(families.JOBS_FINISHED, figures.finished)
    yield from _of_tally(families.STORE_ERRORS, figures.errors)
    for family, spreads in (
        (families.JOB_WAIT, figures.waits),
        (families.JOB_RUN, figures.runs),
        (families.STORE_OPERATION, figures.operations),
    ):
        for name, spread in spreads.items():
            yield Sample(family, spread, (name,))


def of_census(count: Count | None) -> Iterator[Sample]:
    """What the store said when it was last asked; nothing but that it is down if it did not."""
    yield Sample(families.STORE_UP, int(count is not None))
    if count is None:
        return
    yield Sample(families.CLOCK_SKEW, count.skew.total_seconds())
    yield from _of_queues(count)


def _of_queues(count: Count) -> Iterator[Sample]:
    names = Names()
    names.reserve(count.served)
    jobs: Counter[Labels] = Counter()
    ages: dict[Labels, float] = {}
    for queue in count.queues:
        name = names.of(queue.name)
        for status in Status:
            jobs[status.value, name] += queue.counts.get(status, 0)
        ages[name,] = max(ages.get((name,), 0.0), _age(queue, count))
    for labels, number in jobs.items():
        yield Sample(families.JOBS, number, labels)
    for labels, age in ages.items():
        yield Sample(families.QUEUE_OLDEST_AGE, age, labels)


def _age(queue: QueueRecord, count: Count) -> float:
    if queue.oldest_at is None:
        return 0.0
    return max(0.0, (count.as_of - queue.oldest_at).total_seconds())


def _of_tally(family: Family, tally: Tally) -> Iterator[Sample]:
    for labels, number in tally.items():
        yield Sample(family, number, labels)
