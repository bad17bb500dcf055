"""Documents come out as the values that went in."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.encoding.document import (
    limits_from_text,
    limits_to_text,
    node_from_text,
    node_to_text,
    progress_from_text,
    progress_to_text,
    rate_from_text,
    rate_to_text,
    schedule_from_text,
    schedule_to_text,
    tags_from_text,
    tags_to_text,
)
from drumbeat.model.fleet.node import Node, NodeMetrics, Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import JobSpec, Progress
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies, RunOn
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.time.calendar import Calendar
from drumbeat.model.triggers import any_of, cron, daily, every, monthly, once, weekly
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.testing.conformance.builders import FULL_SPEC, specs_by_field

NOON = datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
WEEKEND = Calendar(weekdays=["sat", "sun"])
STRICT = Policies(
    misfire=Misfire.ALL,
    window=timedelta(hours=3, microseconds=1),
    cap=7,
    overlap=Overlap.QUEUE_ONE,
    jitter=timedelta(seconds=5),
    start_at=NOON,
    end_at=NOON + timedelta(days=1),
    max_runs=9,
    run_on=RunOn.LEADER,
)


@pytest.mark.parametrize(
    "trigger",
    [
        cron("0 2 * * *", tz="Europe/Paris"),
        cron("H H * * *").bound("nightly"),
        every(minutes=5).anchored(NOON),
        every(minutes=5, from_completion=True),
        daily(["08:00", "20:00"], tz="Europe/Paris"),
        weekly(["mon"], ["08:00"]),
        monthly([-1], ["08:00"]),
        once(NOON),
        any_of(cron("0 2 * * *"), once(NOON)),
        cron("0 2 * * *").excluding(WEEKEND),
    ],
)
def test_a_schedule_comes_out_as_it_went_in(trigger: Trigger) -> None:
    schedule = Schedule("näme", trigger, FULL_SPEC, STRICT, "why \N{SNOWMAN}")
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


@pytest.mark.parametrize("field", [each.name for each in fields(JobSpec)])
def test_each_field_of_a_job_comes_out_as_it_went_in(field: str) -> None:
    schedule = Schedule("name", every(minutes=5), specs_by_field()[field])
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


def test_a_schedule_of_defaults_comes_out_as_it_went_in() -> None:
    schedule = Schedule("name", every(minutes=5), JobSpec("send"))
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


def test_arguments_that_are_no_utf8_come_out_as_they_went_in() -> None:
    schedule = Schedule("name", every(minutes=5), JobSpec("send", bytes(range(256))))
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


def test_a_document_is_the_same_whoever_writes_it() -> None:
    schedule = Schedule("name", every(minutes=5), FULL_SPEC, STRICT)
    again = schedule_from_text(schedule_to_text(schedule))
    assert schedule_to_text(again) == schedule_to_text(schedule)


def test_parts_of_a_job_come_out_as_they_went_in() -> None:
    assert limits_from_text(limits_to_text(FULL_SPEC.limits)) == FULL_SPEC.limits
    assert limits_from_text(limits_to_text(())) == ()
    assert rate_from_text(rate_to_text(FULL_SPEC.rate)) == FULL_SPEC.rate
    assert rate_from_text(rate_to_text(None)) is None
    assert tags_from_text(tags_to_text(FULL_SPEC.tags)) == FULL_SPEC.tags


def test_progress_comes_out_as_it_went_in() -> None:
    for progress in (Progress(3, 10, "dritter \N{SNOWMAN}"), Progress(0.5)):
        assert progress_from_text(progress_to_text(progress)) == progress


def test_a_node_comes_out_as_it_went_in() -> None:
    node = Node(
        NodeId("anne:1"),
        frozenset({Role.WORKER, Role.API}),
        "1.0",
        NOON,
        slots=8,
        busy=3,
        queues=("default", "mäil"),
        draining=True,
        metrics=NodeMetrics(5, 3, 1, 7, NOON),
        addresses=("127.0.0.1:8080",),
    )
    assert node_from_text(node_to_text(node)) == node


def test_a_node_of_an_earlier_version_has_done_nothing_that_is_known() -> None:
    node = Node(NodeId("anne:1"), frozenset({Role.WORKER}), "0.1", NOON)
    document = json.loads(node_to_text(node))
    del document["metrics"], document["addresses"]
    assert node_from_text(json.dumps(document)) == node


def test_the_entry_of_a_busy_node_stays_small() -> None:
    most = 2**63 - 1
    metrics = NodeMetrics(most, most, most, most, NOON)
    node = Node(NodeId("anne:1"), frozenset(Role), "1.0", NOON, most, most, metrics=metrics)
    assert len(node_to_text(node)) < 512


def test_a_role_of_a_later_version_is_left_out() -> None:
    text = node_to_text(Node(NodeId("anne:1"), frozenset({Role.WORKER}), "9.0", NOON))
    newer = text.replace('"worker"', '"worker","conductor"')
    assert node_from_text(newer).roles == frozenset({Role.WORKER})
