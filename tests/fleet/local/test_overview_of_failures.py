"""The overview groups failures by their cause, and measures the backends."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from drumbeat import Drumbeat, Retry
from drumbeat.fleet.local.overview import error_groups
from drumbeat.model.errors import Unavailable
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.testing import FakeClock, FakeRuntime, drain
from tests.api.caller import house


@pytest.fixture
async def app() -> AsyncGenerator[Drumbeat]:
    app = Drumbeat("memory://", runtime=FakeRuntime(FakeClock()), environment={})

    @app.task(retry=Retry.never())
    async def charge(number: int) -> None:
        raise ValueError(f"card {number} was declined")

    @app.task(retry=Retry.never(), queue="mail")
    async def send(number: int) -> None:
        if number % 2:
            raise TimeoutError
        raise KeyError(number)

    async with app.connected():
        for number in range(3):
            await charge.submit(number)
        await send.submit(1)
        await send.submit(2)
        await drain(app)
        yield app


async def test_failures_of_one_cause_are_one_group_and_the_largest_is_first(
    app: Drumbeat,
) -> None:
    found = await app.fleet.overview.errors()
    assert (found.looked_at, found.complete) == (5, True)
    first, *rest = found.groups
    assert (first.exception, first.count, first.tasks) == ("ValueError", 3, ("charge",))
    assert first.message == "card 2 was declined"
    assert (first.function, first.file) == ("charge", __file__)
    failed = await app.fleet.jobs.list(JobFilter(task="charge"))
    assert first.jobs == tuple(job.id for job in failed.items)
    assert first.first_seen <= first.last_seen
    assert {each.exception for each in rest} == {"TimeoutError", "KeyError"}


async def test_a_filter_restricts_the_groups_to_failed_jobs_that_match(app: Drumbeat) -> None:
    found = await app.fleet.overview.errors(
        JobFilter(queue="mail", statuses=frozenset({Status.COMPLETED}))
    )
    assert sum(each.count for each in found.groups) == 2


async def test_only_the_newest_failures_are_looked_at(
    app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(error_groups, "PORTION", 1)
    monkeypatch.setattr(error_groups, "NEWEST", 2)
    found = await app.fleet.overview.errors()
    assert (found.looked_at, found.complete) == (2, False)
    assert {each.exception for each in found.groups} == {"TimeoutError", "KeyError"}


async def test_large_jobs_end_the_look_earlier(
    app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(error_groups, "PORTION", 1)
    monkeypatch.setattr(error_groups, "MOST_BYTES", 1)
    found = await app.fleet.overview.errors()
    assert (found.looked_at, found.complete) == (1, False)


async def test_the_clock_of_the_store_and_the_time_of_its_answers_are_told(
    app: Drumbeat,
) -> None:
    store, coordinator = await app.fleet.overview.backends()
    assert (store.name, store.kind, store.fault) == ("store", "memory", None)
    assert store.clock_ahead_seconds == 0
    assert store.seconds is not None
    assert (coordinator.name, coordinator.clock_ahead_seconds) == ("coordinator", None)
    assert coordinator.seconds is not None


async def away() -> Any:
    raise Unavailable("the disk is gone")


async def test_a_store_that_does_not_answer_is_named_with_its_fault(
    app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.store, "now", away)
    store, coordinator = await app.fleet.overview.backends()
    assert (store.fault, store.seconds) == ("the disk is gone", None)
    assert coordinator.fault is None


async def test_both_are_asked_for_over_http() -> None:
    ask = house().caller()
    answer = await ask("GET", "/overview/backends")
    assert [each["name"] for each in answer.data] == ["store", "coordinator"]
    answer = await ask("GET", "/overview/errors?task=charge&since=2026-01-01T00:00:00Z")
    assert answer.data == {"groups": [], "looked_at": 0, "complete": True}
    assert (await ask("GET", "/overview/errors?since=yesterday")).status == 422
