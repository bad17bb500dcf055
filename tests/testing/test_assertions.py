"""Assertions about jobs and ticks, and what they say when they fail."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from drumbeat import Drumbeat, Task
from drumbeat.model.errors import UnknownTask
from drumbeat.testing import (
    FakeRuntime,
    assert_fired,
    assert_not_submitted,
    assert_submitted,
    submitted,
    tick,
)


@dataclass
class Address:
    street: str
    number: int


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://", runtime=FakeRuntime())


@pytest.fixture
def send(app: Drumbeat) -> Task[[int, Address], None]:
    @app.task(queue="mail")
    async def send(order_id: int, to: Address) -> None: ...

    return send


HOME = Address("High Street", 1)


async def test_arguments_are_compared_as_they_are_stored(
    app: Drumbeat, send: Task[[int, Address], None]
) -> None:
    await send.submit(1, HOME)
    (job,) = await assert_submitted(app, send, order_id=1, to=Address("High Street", 1))
    assert job.spec.queue == "mail"
    await assert_submitted(app, "send", 1, HOME, times=1)
    await assert_not_submitted(app, send, 2, HOME)


async def test_without_arguments_all_jobs_of_the_task_count(
    app: Drumbeat, send: Task[[int, Address], None]
) -> None:
    await assert_not_submitted(app, send)
    await send.submit_many([(1, HOME), (2, HOME)])
    await assert_submitted(app, send, times=2)


async def test_a_failure_lists_what_was_submitted_instead(
    app: Drumbeat, send: Task[[int, Address], None]
) -> None:
    await send.submit_many([(1, HOME), (2, HOME)])
    with pytest.raises(AssertionError) as failure:
        await assert_submitted(app, send, 3, HOME)
    assert str(failure.value) == (
        "send(order_id=3, to={'street': 'High Street', 'number': 1}) "
        "should have been submitted at least once, but was 0 times.\n"
        "Jobs of send:\n"
        "  send(order_id=1, to={'street': 'High Street', 'number': 1}) is queued\n"
        "  send(order_id=2, to={'street': 'High Street', 'number': 1}) is queued"
    )


async def test_a_failure_shows_other_tasks_where_there_is_no_job_of_this_one(
    app: Drumbeat, send: Task[[int, Address], None]
) -> None:
    @app.task
    async def other() -> None: ...

    await other.submit()
    with pytest.raises(AssertionError) as failure:
        await assert_submitted(app, send)
    assert "No job of send was submitted; all jobs:\n  other() is queued" in str(failure.value)


async def test_a_failure_says_how_often_it_was_instead(
    app: Drumbeat, send: Task[[int, Address], None]
) -> None:
    await send.submit(1, HOME)
    with pytest.raises(AssertionError, match="submitted 2 times, but was 1 time"):
        await assert_submitted(app, send, 1, HOME, times=2)
    with pytest.raises(AssertionError, match="submitted 0 times, but was 1 time"):
        await assert_not_submitted(app, send, 1, HOME)


async def test_a_long_list_is_cut(app: Drumbeat, send: Task[[int, Address], None]) -> None:
    await send.submit_many([(number, HOME) for number in range(50)])
    with pytest.raises(AssertionError, match="and 30 more"):
        await assert_submitted(app, send, 99, HOME)


async def test_a_misspelt_task_is_an_error_and_not_a_pass(app: Drumbeat) -> None:
    with pytest.raises(UnknownTask):
        await assert_not_submitted(app, "sned")


async def test_submitted_lists_jobs_oldest_first_however_many(
    app: Drumbeat, send: Task[[int, Address], None]
) -> None:
    @app.task
    async def other() -> None: ...

    jobs = await send.submit_many([(number, HOME) for number in range(1_500)])
    await other.submit()
    assert [job.id for job in await submitted(app, send)] == [job.id for job in jobs]
    assert len(await submitted(app)) == 1_501
    assert len(await submitted(app, queue="default")) == 1


async def test_a_tick_that_fired_is_found_in_the_ledger(app: Drumbeat) -> None:
    @app.scheduled("0 2 * * *")
    async def cleanup() -> None: ...

    two = datetime(2030, 1, 1, 2, tzinfo=UTC)
    await tick(app, at=two)
    row = await assert_fired(app, "cleanup", two)
    assert row.job_id is not None
    with pytest.raises(AssertionError) as failure:
        await assert_fired(app, "cleanup", two.replace(hour=3))
    assert str(failure.value) == (
        "tick 2030-01-01T03:00:00+00:00 of schedule 'cleanup' should have fired.\n"
        "Its ledger, latest first:\n"
        "  2030-01-01T02:00:00+00:00 fired"
    )


async def test_a_skipped_tick_has_not_fired(app: Drumbeat) -> None:
    @app.scheduled("0 2 * * *", misfire="skip")
    async def cleanup() -> None: ...

    two = datetime(2030, 1, 1, 2, tzinfo=UTC)
    await tick(app, at=two.replace(day=2, hour=1))
    with pytest.raises(AssertionError, match=r"02:00:00\+00:00 skipped \(missed_window\)"):
        await assert_fired(app, "cleanup", two)
