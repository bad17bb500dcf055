"""Firing past ticks by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.errors import InvalidInput, NaiveDatetime
from drumbeat.model.jobs.job import JobSpec, Limit
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.triggers import Calendar, cron, every
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.schedules.backfill import backfill

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTELY = cron("* * * * *")


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def stored(trigger: Trigger = MINUTELY, policies: Policies | None = None) -> StoredSchedule:
    schedule = Schedule("beat", trigger, JobSpec("work"), policies or Policies())
    return StoredSchedule(schedule, 1, at(600), at(601), NOON, NOON)


def ticks(of: StoredSchedule, start: float, end: float) -> list[datetime]:
    return [fire.tick_at for fire in backfill(of, at(start), at(end), at(600))]


def test_both_ends_are_included() -> None:
    assert ticks(stored(), 1, 3) == [at(1), at(2), at(3)]
    assert ticks(stored(), 0.5, 1.5) == [at(1)]
    assert ticks(stored(), 0.5, 0.6) == []
    assert ticks(stored(), 600, 600) == [at(600)]


def test_excluded_ticks_stay_out() -> None:
    trigger = MINUTELY.excluding(Calendar(times=[("12:02", "12:04")]))
    assert ticks(stored(trigger), 1, 5) == [at(1), at(4), at(5)]


def test_the_life_of_the_schedule_bounds_it_and_its_other_policies_do_not() -> None:
    policies = Policies(
        start_at=at(2),
        end_at=at(4),
        max_runs=1,
        misfire=Misfire.SKIP,
        window=timedelta(seconds=1),
        cap=1,
    )
    assert ticks(stored(policies=policies), 0, 9) == [at(2), at(3), at(4)]


def test_the_jobs_run_at_once_and_one_after_the_other() -> None:
    policies = Policies(jitter=timedelta(minutes=5))
    (fire,) = backfill(stored(policies=policies), at(1), at(1), at(600))
    assert (fire.job.run_at, fire.job.delay) == (None, timedelta(0))
    assert (fire.job.schedule, fire.job.tick_at) == ("beat", at(1))
    assert fire.job.limits == (Limit("schedule:beat", 1),)
    side_by_side = stored(policies=replace(policies, overlap=Overlap.ALLOW))
    assert backfill(side_by_side, at(1), at(1), at(600))[0].job.limits == ()


def test_ten_thousand_ticks_can_be_backfilled_and_not_one_more() -> None:
    start, now = at(0), at(20_000)
    assert len(backfill(stored(), start, at(9_999), now)) == 10_000
    with pytest.raises(InvalidInput, match=r"more than 10,000 ticks.*2026-03-09T10:39"):
        backfill(stored(), start, at(10_000), now)


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        pytest.param(3, 2, "must not come after end", id="backwards"),
        pytest.param(3, 601, "in the future", id="into the future"),
    ],
)
def test_a_span_that_cannot_be_is_refused(start: float, end: float, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        ticks(stored(), start, end)


def test_instants_need_a_zone() -> None:
    with pytest.raises(NaiveDatetime):
        backfill(stored(), datetime(2026, 3, 2), at(1), at(600))


def test_a_schedule_that_counts_from_the_end_of_its_jobs_has_no_past() -> None:
    with pytest.raises(InvalidInput, match="no past ticks"):
        ticks(stored(every(minutes=5, from_completion=True)), 1, 10)
