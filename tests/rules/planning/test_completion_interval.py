"""Ticks that are counted from the end of the previous job."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.schedules.plan import Plan, SkipReason
from drumbeat.model.schedules.policy import Misfire, Policies
from drumbeat.model.schedules.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.model.triggers import any_of, every
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.plan import plan

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)
AFTER_FIVE = every(minutes=5, from_completion=True).bound("beat").anchored(NOON)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def stored(next_at: float = 5, policies: Policies | None = None) -> StoredSchedule:
    schedule = Schedule("beat", AFTER_FIVE, JobSpec("work"), policies or Policies())
    return StoredSchedule(schedule, 1, NOON, at(next_at), NOON, NOON)


def finished(minutes: float) -> Previous:
    return Previous(JobId(1), Status.COMPLETED, at(minutes))


RUNNING = Previous(JobId(1), Status.RUNNING, None)


def fired(outcome: Plan) -> list[datetime]:
    return [fire.tick_at for fire in outcome.fires]


def test_the_first_tick_fires_when_it_comes() -> None:
    outcome = plan(DueSchedule(stored(), None), at(5.1))
    assert fired(outcome) == [at(5)]
    assert (outcome.cursor, outcome.next_tick) == (at(5.1), at(10.1))


@pytest.mark.parametrize("status", [Status.PENDING, Status.QUEUED, Status.RUNNING])
def test_while_the_previous_job_is_unfinished_there_is_no_tick(status: Status) -> None:
    before = stored()
    outcome = plan(DueSchedule(before, replace(RUNNING, status=status)), at(5.5))
    assert outcome == Plan(before, before.cursor, at(10.5), as_of=at(5.5))


def test_when_the_previous_job_ended_lately_the_tick_moves() -> None:
    before = stored()
    outcome = plan(DueSchedule(before, finished(3)), at(5))
    assert outcome == Plan(before, before.cursor, at(8), as_of=at(5))


def test_the_tick_comes_an_interval_after_the_previous_end() -> None:
    outcome = plan(DueSchedule(stored(8), finished(3)), at(8))
    assert fired(outcome) == [at(8)]
    assert (outcome.cursor, outcome.next_tick) == (at(8), at(13))


def test_after_an_outage_one_tick_fires_however_long_it_was() -> None:
    outcome = plan(DueSchedule(stored(), finished(3)), at(40))
    assert fired(outcome) == [at(8)]
    assert outcome.skips == ()
    assert outcome.next_tick == at(45)


@pytest.mark.parametrize(
    "policies", [Policies(window=timedelta(minutes=10)), Policies(misfire=Misfire.SKIP)]
)
def test_a_tick_that_was_missed_is_skipped_and_the_next_follows_an_interval_later(
    policies: Policies,
) -> None:
    before = stored(policies=policies)
    outcome = plan(DueSchedule(before, finished(3)), at(40))
    assert [(skip.tick_at, skip.reason) for skip in outcome.skips] == [
        (at(8), SkipReason.MISSED_WINDOW)
    ]
    then = replace(before, cursor=outcome.cursor, next_tick=outcome.next_tick)
    assert fired(plan(DueSchedule(then, finished(3)), at(45))) == [at(45)]


def test_nothing_fires_in_time_that_is_accounted_for() -> None:
    resumed = replace(stored(65), cursor=at(60))
    assert fired(plan(DueSchedule(resumed, finished(3)), at(65.1))) == [at(65)]


def test_a_tick_at_the_very_cursor_is_accounted_for() -> None:
    resumed = replace(stored(13), cursor=at(8))
    assert fired(plan(DueSchedule(resumed, finished(3)), at(13.1))) == [at(13)]


def test_a_paused_schedule_skips_its_tick() -> None:
    outcome = plan(DueSchedule(replace(stored(), paused=True), None), at(5))
    assert [skip.reason for skip in outcome.skips] == [SkipReason.PAUSED]
    assert outcome.next_tick == at(10)


@pytest.mark.parametrize(
    ("previous", "ticks"),
    [
        pytest.param(None, [at(5)], id="after the last tick"),
        pytest.param(RUNNING, [], id="while its job is at work"),
        pytest.param(finished(4.5), [], id="when the next tick would come too late"),
    ],
)
def test_a_schedule_ends_at_its_end(previous: Previous | None, ticks: list[datetime]) -> None:
    outcome = plan(DueSchedule(stored(policies=Policies(end_at=at(9))), previous), at(5))
    assert fired(outcome) == ticks
    assert outcome.next_tick is None


def test_a_tick_before_the_start_of_the_schedule_is_none() -> None:
    before = stored(60, Policies(start_at=at(58)))
    assert fired(plan(DueSchedule(before, finished(3)), at(60))) == [at(60)]


def test_the_last_run_ends_the_schedule() -> None:
    before = replace(stored(policies=Policies(max_runs=3)), runs=2)
    outcome = plan(DueSchedule(before, finished(-9)), at(5))
    assert (len(outcome.fires), outcome.next_tick) == (1, None)


def test_a_job_that_never_ends_never_overlaps() -> None:
    """Looked at once in each interval, for a day."""
    before, now = stored(), at(5)
    for _ in range(288):
        outcome = plan(DueSchedule(before, RUNNING), now)
        assert (outcome.fires, outcome.skips) == ((), ())
        assert outcome.next_tick == now + FIVE
        before, now = replace(before, next_tick=outcome.next_tick), now + FIVE


def test_among_other_triggers_it_is_a_plain_interval() -> None:
    trigger: Trigger = any_of(AFTER_FIVE, every(minutes=7).anchored(NOON))
    schedule = Schedule("beat", trigger, JobSpec("work"), Policies(misfire=Misfire.ALL))
    before = StoredSchedule(schedule, 1, NOON, at(5), NOON, NOON)
    outcome = plan(DueSchedule(before, RUNNING), at(7))
    assert [(skip.count, skip.reason) for skip in outcome.skips] == [(2, SkipReason.OVERLAP)]
