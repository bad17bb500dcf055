"""Options that `.options()` gives to a task are those of a schedule of it, or are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from drumbeat import Drumbeat, Retry, Schedule, Task, every
from drumbeat.engine.submitting.submissions import Submissions
from drumbeat.model.errors import InvalidOption
from drumbeat.testing.clock import START

MINUTE = every(minutes=1)


@pytest.fixture
async def app() -> AsyncIterator[Drumbeat]:
    app = Drumbeat("memory://", environment={})
    async with app.connected():
        yield app


@pytest.fixture
def work(app: Drumbeat) -> Task[..., Any]:
    def work(shop: str) -> None: ...

    return app.task(priority=3, queue="own")(work)


async def test_a_schedule_keeps_the_options_of_its_task(
    app: Drumbeat, work: Task[..., Any]
) -> None:
    chosen = work.options(queue="mail", timeout="5s", exclusive="shop-{shop}", tags=("a",))
    declared = app.schedule(chosen, MINUTE, args=("x",), retry=Retry.never())
    put = await app.schedules.put("often", MINUTE, chosen, args=("x",), queue="last")
    usual = app.schedule(work, MINUTE, name="usual", args=("x",))

    def kept(schedule: Schedule) -> tuple[object, ...]:
        job = schedule.job
        names = [limit.key for limit in job.limits]
        return (job.queue, job.priority, job.timeout, names, job.tags, job.retry.max_retries)

    assert kept(declared) == ("mail", 3, 5.0, ["exclusive:shop-x"], ("a",), 0)
    assert kept(put.schedule) == ("last", 3, 5.0, ["exclusive:shop-x"], ("a",), 3)
    assert kept(usual) == ("own", 3, None, [], (), 3)


def joined(submissions: Submissions, connection: object) -> Submissions:
    return submissions


@pytest.mark.parametrize(
    "options", [{"delay": 5}, {"run_at": START + timedelta(days=1)}, {"connection": object()}]
)
async def test_options_that_a_schedule_cannot_keep_are_refused(
    app: Drumbeat,
    work: Task[..., Any],
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (name,) = options
    # Only a store on PostgreSQL takes a connection at all.
    monkeypatch.setattr(Submissions, "within", joined)
    sentence = f"{name} is not for schedules"
    with pytest.raises(InvalidOption, match=sentence):
        app.schedule(work.options(**options), MINUTE, args=("x",))
    with pytest.raises(InvalidOption, match=sentence):
        app.schedule(work.options(**options).options(queue="x"), MINUTE, args=("x",))
    with pytest.raises(InvalidOption, match=sentence):
        await app.schedules.put("often", MINUTE, work.options(**options), args=("x",))


@pytest.mark.parametrize(
    "options", [{"delay": 5}, {"heartbeat": 5}, {"secret": ("shop",)}, {"aliases": ("x",)}]
)
async def test_options_that_a_schedule_would_drop_are_refused_when_given_to_it(
    app: Drumbeat, work: Task[..., Any], options: dict[str, Any]
) -> None:
    (name,) = options
    with pytest.raises(InvalidOption, match=name):
        app.schedule(work, MINUTE, args=("x",), **options)
    with pytest.raises(InvalidOption, match=name):
        await app.schedules.put("often", MINUTE, work, args=("x",), **options)
