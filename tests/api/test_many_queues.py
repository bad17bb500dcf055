"""The cost of looking at queues is linear in their number, and data creates only so many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.fleet.local.queue_names import FRESH, MOST_QUEUES
from drumbeat.fleet.local.queue_rates import QueueRates, queue_with_rate
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.jobs.queue import QueueRecord, Queues

from .caller import Caller, House, house

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MANY = 20_000


class Counted(Mapping[Status, int]):
    """Totals that count how often they are read."""

    def __init__(self, reads: list[int]) -> None:
        self._reads = reads

    def __getitem__(self, status: Status) -> int:
        self._reads[0] += 1
        if status is not Status.COMPLETED:
            raise KeyError(status)
        return 1

    def __iter__(self) -> Iterator[Status]:
        self._reads[0] += 1
        return iter((Status.COMPLETED,))

    def __len__(self) -> int:
        self._reads[0] += 1
        return 1


class CountedQueues(tuple[QueueRecord, ...]):
    """Queues that count how often they are walked through."""

    walks = 0

    def __iter__(self) -> Iterator[QueueRecord]:
        type(self).walks += 1
        return super().__iter__()


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


def test_a_look_at_many_queues_walks_through_them_once() -> None:
    reads, rates = [0], QueueRates()

    def look(at: datetime) -> Queues:
        totals = Counted(reads)
        records = (QueueRecord(f"q{number}", totals=totals) for number in range(MANY))
        return Queues(at, CountedQueues(records))

    first, second = look(NOW), look(NOW + timedelta(seconds=10))
    rates.note(first)
    CountedQueues.walks = reads[0] = 0
    shown = [queue_with_rate(record, second, rates) for record in second.queues]
    rates.note(second)
    assert shown[0].per_minute
    assert CountedQueues.walks == 2  # our own walk, and the look that is remembered
    assert reads[0] <= 20 * MANY


async def test_a_submitter_creates_only_so_many_queues(ask: Caller, ours: House) -> None:
    jobs = [{"task": "greet", "queue": f"q{number}"} for number in range(MOST_QUEUES)]
    assert (await ask("POST", "/jobs/batch", {"jobs": jobs})).status == 201
    one_more = {"task": "greet", "queue": "one-more"}
    refused = await ask("POST", "/jobs", one_more)
    assert (refused.status, refused.kind, refused.data["field"]) == (
        422,
        "too-many-queues",
        "queue",
    )
    assert "use one that exists" in refused.data["detail"]
    batch = await ask("POST", "/jobs/batch", {"jobs": [one_more]})
    assert (batch.status, batch.kind) == (422, "too-many-queues")
    assert (await ask("POST", "/jobs", {"task": "greet", "queue": "q7"})).status == 201
    assert (await ask("POST", "/jobs", {"task": "greet"})).status == 201


async def test_a_queue_that_code_has_made_is_open_to_submitters(ask: Caller, ours: House) -> None:
    jobs = [{"task": "greet", "queue": f"q{number}"} for number in range(MOST_QUEUES)]
    assert (await ask("POST", "/jobs/batch", {"jobs": jobs})).status == 201
    await ours.app.submit(JobSpec("greet", queue="made-by-code"))
    await ours.clock.advance(FRESH)
    late = await ask("POST", "/jobs", {"task": "greet", "queue": "made-by-code"})
    assert late.status == 201
