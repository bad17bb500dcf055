"""Names as the conventions of Prometheus ask for them, and a row for each in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drumbeat.telemetry.families import FAMILIES, Family, MetricKind

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
NOT_BASE = re.compile(r"_(milliseconds|ms|minutes|hours|days|kb|mb|bytes_total_count|percent)(_|$)")
RESERVED = {"le", "quantile", "job", "instance"}
EXPECTED = {
    *("drumbeat_leader_status", "drumbeat_leader_transitions_total"),
    "drumbeat_deaths_noticed_total",
    *("drumbeat_leader_lease_remaining_seconds", "drumbeat_leader_epoch"),
    *("drumbeat_schedule_ticks_total", "drumbeat_schedule_lag_seconds"),
    "drumbeat_schedules_unknown_task",
    *("drumbeat_jobs", "drumbeat_queue_oldest_age_seconds"),
    *("drumbeat_jobs_submitted_total", "drumbeat_jobs_finished_total"),
    *("drumbeat_job_wait_seconds", "drumbeat_job_run_seconds"),
    *("drumbeat_worker_slots", "drumbeat_worker_slots_busy"),
    *("drumbeat_clock_skew_seconds", "drumbeat_store_up"),
    *("drumbeat_store_operation_seconds", "drumbeat_store_errors_total"),
    *("drumbeat_tickets_total", "drumbeat_tickets_waiting", "drumbeat_queue_up"),
    "drumbeat_build_info",
}
"""What dashboards and alerts out there rest on: a name that goes is a broken promise."""


def test_the_names_are_those_that_were_promised() -> None:
    assert {family.name for family in FAMILIES} == EXPECTED
    assert len(FAMILIES) == len(EXPECTED)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_name_follows_the_conventions(family: Family) -> None:
    assert re.fullmatch(r"drumbeat(_[a-z]+)+", family.name)
    assert family.name.endswith("_total") == (family.kind is MetricKind.COUNTER)
    assert not family.name.endswith(("_count", "_sum", "_bucket", "_created"))
    assert not NOT_BASE.search(family.name)
    assert family.kind.value not in family.name.split("_")
    if family.kind is MetricKind.HISTOGRAM:
        assert family.name.endswith("_seconds")
    assert re.fullmatch(r"[A-Z0-9].*\.", family.meaning), "the help is a sentence"
    for label in family.labels:
        assert re.fullmatch(r"[a-z]+", label)
        assert label not in RESERVED


def test_the_page_lists_every_metric_with_its_labels_and_none_that_is_gone() -> None:
    rows = re.findall(r"^\| `(drumbeat_\w+)` \| (\w+) \|([^|]*)\|", PAGE.read_text(), re.MULTILINE)
    assert {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows} == {
        family.name: (family.kind.value, family.labels) for family in FAMILIES
    }
