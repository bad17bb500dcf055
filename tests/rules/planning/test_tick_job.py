"""The job that a tick submits, and when it runs."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.jobs.job import LEADER_QUEUE, JobSpec, Limit, Rate
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.schedules.policy import Overlap, Policies, RunOn
from drumbeat.model.schedules.schedule import DueSchedule, Schedule, StoredSchedule
from drumbeat.model.triggers import every
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.planning.tick_job import jitter, job_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
OWN = Limit("exclusive:vault", 1)
TEMPLATE = JobSpec(
    task="work",
    arguments=b"[[1],{}]",
    queue="heavy",
    priority=7,
    run_at=NOON - timedelta(days=1),
    delay=timedelta(seconds=9),
    retry=Retry.never(),
    timeout=3.0,
    dedupe_key="k",
    dedupe_for=timedelta(hours=1),
    dedupe_scope="s",
    expires=timedelta(minutes=7),
    retention=timedelta(days=7),
    schedule="other",
    tick_at=NOON - timedelta(days=1),
    limits=(OWN,),
    rate=Rate("r", 1, timedelta(seconds=1)),
    tags=("a",),
    trace="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
)
FILLED_IN = {"run_at", "delay", "schedule", "tick_at", "limits", "trace"}


def schedule(policies: Policies) -> Schedule:
    return Schedule("beat", every(minutes=1, start=NOON), TEMPLATE, policies)


def test_the_template_differs_from_a_bare_job_in_every_field() -> None:
    bare = JobSpec("idle")
    same = [each.name for each in fields(JobSpec) if _equal(TEMPLATE, bare, each.name)]
    assert same == [], "the next test could not see that these are lost"


def test_all_of_the_template_travels_with_each_tick() -> None:
    job = job_of(schedule(Policies(overlap=Overlap.ALLOW)), NOON, NOON)
    for each in fields(JobSpec):
        if each.name not in FILLED_IN:
            assert _equal(job, TEMPLATE, each.name), each.name
    assert (job.schedule, job.tick_at, job.run_at, job.delay) == ("beat", NOON, NOON, timedelta(0))
    assert job.trace is None, "nobody's request submitted it"


def _equal(one: JobSpec, other: JobSpec, name: str) -> bool:
    return bool(getattr(one, name) == getattr(other, name))


@pytest.mark.parametrize("overlap", list(Overlap))
def test_runs_of_one_schedule_are_kept_apart_unless_they_may_overlap(overlap: Overlap) -> None:
    limits = job_of(schedule(Policies(overlap=overlap)), NOON, None).limits
    assert limits == ((OWN,) if overlap is Overlap.ALLOW else (OWN, Limit("schedule:beat", 1)))


def test_a_job_for_the_leader_goes_to_the_leaders_queue() -> None:
    assert job_of(schedule(Policies(run_on=RunOn.LEADER)), NOON, None).queue == LEADER_QUEUE


def test_jitter_moves_the_job_and_not_the_tick() -> None:
    spread = timedelta(minutes=10)
    due = StoredSchedule(schedule(Policies(jitter=spread)), 1, NOON, NOON, NOON, NOON)
    (fire,) = plan(DueSchedule(due, None), NOON).fires
    assert fire.tick_at == fire.job.tick_at == NOON
    assert jitter("beat", NOON, spread) > timedelta(0)
    assert fire.job.run_at == NOON + jitter("beat", NOON, spread)


def test_jitter_is_the_same_on_every_node_and_in_every_release() -> None:
    assert jitter("beat", NOON, timedelta(minutes=1)) == timedelta(seconds=18, microseconds=461021)


def test_without_jitter_a_job_runs_at_its_tick() -> None:
    assert jitter("beat", NOON, timedelta(0)) == timedelta(0)


@settings(max_examples=50)
@given(
    st.text(max_size=20),
    st.datetimes(timezones=st.just(UTC)),
    st.timedeltas(timedelta(microseconds=1), timedelta(days=9)),
)
def test_jitter_is_never_negative_and_less_than_all(
    name: str, tick: datetime, below: timedelta
) -> None:
    assert timedelta(0) <= jitter(name, tick, below) < below


def test_jitter_spreads_schedules_over_the_whole_of_it() -> None:
    tenths = {jitter(f"s{n}", NOON, timedelta(seconds=10)).seconds for n in range(200)}
    assert tenths == set(range(10))
