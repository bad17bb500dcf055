"""Telling a definition that changed from one that was only deployed again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.jobs.job import JobSpec, Limit, Rate
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.schedules.policy import Overlap, Policies
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.triggers import cron, every
from drumbeat.rules.schedules.fingerprint import fingerprint

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BEAT = Schedule(
    "beat",
    every(minutes=5),
    JobSpec("work", limits=(Limit("k", 2),), rate=Rate("r", 1, timedelta(seconds=1))),
    Policies(start_at=NOON, jitter=timedelta(seconds=3)),
    "Beats.",
)


def test_a_zone_that_is_not_given_is_utc_for_the_fingerprint() -> None:
    job = JobSpec("beat")
    named = Schedule("beat", cron("0 2 * * *", tz="UTC"), job)
    assert fingerprint(Schedule("beat", cron("0 2 * * *"), job)) == fingerprint(named)
    assert fingerprint(Schedule("beat", cron("0 2 * * *", tz="Asia/Tokyo"), job)) != fingerprint(
        named
    )


def test_a_fingerprint_is_the_same_in_every_process_and_release() -> None:
    assert fingerprint(BEAT) == "900e925beeae2e0720305a2ce6f7ae0e"


def test_equal_definitions_have_equal_fingerprints() -> None:
    again = Schedule("beat", every(seconds=300), BEAT.job, BEAT.policies, "Beats.")
    assert fingerprint(again) == fingerprint(BEAT)


def test_the_name_is_no_part_of_it() -> None:
    assert fingerprint(replace(BEAT, name="other")) == fingerprint(BEAT)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(BEAT, trigger=cron("* * * * *")), id="another trigger"),
        pytest.param(replace(BEAT, trigger=every(minutes=5, start=NOON)), id="another start"),
        pytest.param(replace(BEAT, job=JobSpec("work")), id="no limit"),
        pytest.param(replace(BEAT, job=replace(BEAT.job, arguments=b"[[2],{}]")), id="arguments"),
        pytest.param(replace(BEAT, job=replace(BEAT.job, retry=Retry.never())), id="retry"),
        pytest.param(replace(BEAT, job=replace(BEAT.job, dedupe_scope="x")), id="dedupe scope"),
        pytest.param(replace(BEAT, policies=Policies(overlap=Overlap.ALLOW)), id="policies"),
        pytest.param(replace(BEAT, description="Beats!"), id="description"),
    ],
)
def test_any_change_shows(changed: Schedule) -> None:
    assert fingerprint(changed) != fingerprint(BEAT)
