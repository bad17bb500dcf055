"""Documents come out as the values that went in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.calendar import Calendar
from drumbeat.model.document import (
    limits_from_text,
    limits_to_text,
    node_from_text,
    node_to_text,
    options_from_text,
    options_to_text,
    progress_from_text,
    progress_to_text,
    rate_from_text,
    rate_to_text,
    schedule_from_text,
    schedule_to_text,
    tags_from_text,
    tags_to_text,
)
from drumbeat.model.ids import NodeId
from drumbeat.model.job import JobSpec, Limit, OnConflict, Progress, Rate
from drumbeat.model.node import Node, Role
from drumbeat.model.policy import Misfire, Overlap, Policies, RunOn
from drumbeat.model.retry import DEFAULT_RETRY, Retry
from drumbeat.model.schedule import Schedule
from drumbeat.model.trigger import Trigger
from drumbeat.model.triggers import any_of, cron, daily, every, monthly, once, weekly

NOON = datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
FULL = JobSpec(
    "send",
    '{"to":"Zoë \N{SNOWMAN}"}'.encode(),
    queue="mäil",
    priority=7,
    run_at=NOON,
    delay=timedelta(microseconds=1),
    retry=Retry.linear(5, 2.5),
    timeout=0.1,
    dedupe_key="schlüssel",
    dedupe_for=timedelta(days=400, microseconds=3),
    schedule="nightly",
    tick_at=NOON,
    limits=(Limit("door", 2), Limit("window", 3, OnConflict.CANCEL)),
    rate=Rate("bell", 5, timedelta(minutes=1)),
    tags=("one", "zwei"),
)
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
    schedule = Schedule("näme", trigger, FULL, STRICT, "why \N{SNOWMAN}")
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


def test_a_schedule_of_defaults_comes_out_as_it_went_in() -> None:
    schedule = Schedule("name", every(minutes=5), JobSpec("send"))
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


def test_arguments_that_are_no_utf8_come_out_as_they_went_in() -> None:
    schedule = Schedule("name", every(minutes=5), JobSpec("send", bytes(range(256))))
    assert schedule_from_text(schedule_to_text(schedule)) == schedule


def test_a_document_is_the_same_whoever_writes_it() -> None:
    schedule = Schedule("name", every(minutes=5), FULL, STRICT)
    again = schedule_from_text(schedule_to_text(schedule))
    assert schedule_to_text(again) == schedule_to_text(schedule)


def test_parts_of_a_job_come_out_as_they_went_in() -> None:
    assert limits_from_text(limits_to_text(FULL.limits)) == FULL.limits
    assert limits_from_text(limits_to_text(())) == ()
    assert rate_from_text(rate_to_text(FULL.rate)) == FULL.rate
    assert rate_from_text(rate_to_text(None)) is None
    assert tags_from_text(tags_to_text(FULL.tags)) == FULL.tags
    for retry in (DEFAULT_RETRY, Retry.never(), FULL.retry):
        for timeout in (None, 0.1, 30):
            for trace in (None, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"):
                text = options_to_text(retry, timeout, trace)
                assert options_from_text(text) == (retry, timeout, trace)
                assert ("trace" in text) == (trace is not None)


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
    )
    assert node_from_text(node_to_text(node)) == node


def test_a_role_of_a_later_version_is_left_out() -> None:
    text = node_to_text(Node(NodeId("anne:1"), frozenset({Role.WORKER}), "9.0", NOON))
    newer = text.replace('"worker"', '"worker","conductor"')
    assert node_from_text(newer).roles == frozenset({Role.WORKER})
