"""Ticks of a task that the leader does not know, while its jobs wait for a node that does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.schedules.plan import Skip, SkipReason
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.model.triggers import cron
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.planning.stranded_jobs import MOST_STRANDED, may_be_stranded

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ALLOWED = Policies(overlap=Overlap.ALLOW, misfire=Misfire.ALL)


def due(status: Status | None, policies: Policies = ALLOWED) -> DueSchedule:
    schedule = Schedule("beat", cron("* * * * *"), JobSpec("newer"), policies)
    stored = StoredSchedule(schedule, 1, NOON, NOON + MINUTE, NOON, NOON)
    previous = None if status is None else Previous(JobId(1), status, None)
    return DueSchedule(stored, previous)


@pytest.mark.parametrize(
    ("given", "known", "counts"),
    [
        pytest.param(due(Status.QUEUED), {"older"}, True, id="unknown, and its last job waits"),
        pytest.param(due(Status.QUEUED), {"newer"}, False, id="known"),
        pytest.param(due(Status.RUNNING), {"older"}, False, id="some worker runs it"),
        pytest.param(due(Status.COMPLETED), {"older"}, False, id="some worker ran it"),
        pytest.param(due(None), {"older"}, False, id="it never fired"),
        pytest.param(due(Status.QUEUED, Policies()), {"older"}, False, id="overlap bounds it"),
    ],
)
def test_waiting_jobs_are_counted_only_where_they_can_pile_up(
    given: DueSchedule, known: set[str], counts: bool
) -> None:
    assert may_be_stranded(given, frozenset(known)) is counts


@pytest.mark.parametrize("waiting", [None, 0, MOST_STRANDED - 1])
def test_ticks_fire_while_few_jobs_wait(waiting: int | None) -> None:
    made = plan(replace(due(Status.QUEUED), stranded=waiting), NOON + 2 * MINUTE)
    assert [fire.tick_at for fire in made.fires] == [NOON + MINUTE, NOON + 2 * MINUTE]


def test_ticks_are_skipped_while_many_jobs_wait() -> None:
    made = plan(replace(due(Status.QUEUED), stranded=MOST_STRANDED), NOON + 2 * MINUTE)
    assert made.fires == ()
    expected = Skip(NOON + MINUTE, NOON + 2 * MINUTE, 2, SkipReason.UNKNOWN_TASK)
    assert made.skips == (expected,)
    assert made.next_tick == NOON + 3 * MINUTE


def test_an_earlier_reason_is_the_one_recorded() -> None:
    held = replace(due(Status.QUEUED), stranded=MOST_STRANDED)
    paused = replace(held, stored=replace(held.stored, paused=True))
    (skip,) = plan(paused, NOON + MINUTE).skips
    assert skip.reason is SkipReason.PAUSED
