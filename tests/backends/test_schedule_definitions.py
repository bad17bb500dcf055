"""Definitions that stores read back quickly are those that were written."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.backends.sql.schedule_definitions import read_schedule
from drumbeat.model.encoding.document import schedule_to_text
from drumbeat.model.jobs.job import JobSpec, Limit
from drumbeat.model.schedules.policy import Overlap, Policies
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.triggers import any_of, cron, every
from drumbeat.model.triggers.trigger import Trigger


@pytest.mark.parametrize(
    ("trigger", "job"),
    [
        (cron("*/5 * * * *", tz="Europe/Berlin"), JobSpec("work")),
        (any_of(every(seconds=7), cron("0 1 * * *")), JobSpec("work", limits=(Limit("door", 2),))),
        (every(hours=1), JobSpec("work", '{"name":"Zoë \N{SNOWMAN}"}'.encode(), tags=("a", "b"))),
        (every(hours=1), JobSpec("work", b"\xff\x80 is no UTF-8")),
        (every(hours=1), JobSpec("work", timeout=float("inf"))),
    ],
)
def test_a_definition_is_read_as_it_was_written(trigger: Trigger, job: JobSpec) -> None:
    policies = Policies(overlap=Overlap.REPLACE, jitter=timedelta(seconds=1.5))
    schedule = Schedule("name", trigger, job, policies, "what it is for")
    assert read_schedule(schedule_to_text(schedule)) == schedule
