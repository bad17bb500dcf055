"""Which schedules are planned before their tick, and for how long such a plan is good."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.schedules.policy import Overlap, Policies
from drumbeat.model.schedules.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.model.triggers import cron, every
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.ahead import FRESH, is_fresh, may_be_planned_ahead
from drumbeat.rules.planning.plan import plan

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TICK = NOON + timedelta(minutes=1)
MINUTELY = cron("* * * * *")


def due(
    status: Status | None = None, policies: Policies | None = None, trigger: Trigger = MINUTELY
) -> DueSchedule:
    schedule = Schedule("beat", trigger, JobSpec("work"), policies or Policies())
    stored = StoredSchedule(schedule, 1, NOON, TICK, NOON, NOON)
    return DueSchedule(stored, None if status is None else Previous(JobId(1), status, NOON))


@pytest.mark.parametrize(
    ("given", "may_be"),
    [
        pytest.param(due(), True, id="it never fired"),
        pytest.param(due(Status.FAILED), True, id="its last job has ended"),
        pytest.param(due(Status.RUNNING), False, id="its last job may end before the tick"),
        pytest.param(due(Status.QUEUED), False, id="its last job waits"),
        pytest.param(due(Status.RUNNING, Policies(overlap=Overlap.ALLOW)), True, id="may overlap"),
        pytest.param(due(Status.RUNNING, Policies(overlap=Overlap.REPLACE)), False, id="replaces"),
        pytest.param(
            due(Status.COMPLETED, trigger=every(minutes=1, from_completion=True)),
            False,
            id="its tick depends on when the last job ended",
        ),
    ],
)
def test_a_tick_that_waits_for_no_job_is_planned_ahead(given: DueSchedule, may_be: bool) -> None:
    assert may_be_planned_ahead(given) is may_be


def test_a_plan_made_ahead_is_the_one_that_would_be_made_at_the_tick() -> None:
    made = plan(due(), TICK)
    assert [fire.tick_at for fire in made.fires] == [TICK]
    assert (made.cursor, made.next_tick) == (TICK, TICK + timedelta(minutes=1))


@pytest.mark.parametrize(
    ("policies", "late", "fresh"),
    [
        pytest.param(Policies(), timedelta(0), True, id="on time"),
        pytest.param(Policies(), FRESH, True, id="a little late"),
        pytest.param(Policies(), FRESH + timedelta(milliseconds=1), False, id="late"),
        pytest.param(Policies(window=FRESH / 2), FRESH, False, id="later than its window allows"),
    ],
)
def test_a_plan_that_is_late_is_made_again(
    policies: Policies, late: timedelta, fresh: bool
) -> None:
    assert is_fresh(plan(due(policies=policies), TICK), TICK + late) is fresh
