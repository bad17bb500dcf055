"""A run that is interrupted more than once: it may be ended sooner, never later."""

from __future__ import annotations

import asyncio

import pytest

from drumbeat.engine.executing.run import Run
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.task import define
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.ending import GivenBack
from drumbeat.model.jobs.job import Attempt, Hold, JobSpec
from drumbeat.testing import FakeClock

LATER, SOONER = GivenBack("leadership was lost"), GivenBack("the store cannot be reached")


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


def new_run(clock: FakeClock) -> Run:
    now = clock.now()
    attempt = Attempt(Hold(JobId(1), 1), 1, JobSpec("forever"), NodeId("n:1"), now, now)
    return Run(attempt, define(forever, "forever", TaskOptions()), clock, lambda: None)


@pytest.mark.parametrize(
    ("first", "second", "ends_at"), [(5.0, 1.0, 2.0), (5.0, 9.0, 5.0), (5.0, 0.0, 1.0)]
)
async def test_a_second_interruption_can_only_hasten_the_end(
    first: float, second: float, ends_at: float
) -> None:
    clock = FakeClock()
    run, task = new_run(clock), asyncio.ensure_future(forever())
    run.begin(task)
    assert not run.context.cancelled  # a handler that never looks is cancelled at once
    run.interrupt(LATER, first)
    await clock.advance(1)
    assert run.would_end_sooner(second) is (second < 4.0)
    run.interrupt(SOONER, second)
    if ends_at > 1:
        await clock.advance(ends_at - 1 - 0.1)
        assert not task.done()
    await clock.advance(0.1)
    assert task.cancelled()
    assert run.interruption is LATER
    assert not run.would_end_sooner(0.0)
