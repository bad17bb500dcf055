"""The page of all routes says what the table says."""

from __future__ import annotations

import re
from pathlib import Path

from drumbeat.api.table import TABLE
from drumbeat.fleet.local.events.feed import HEARTBEAT, KEPT, MOST_STREAMS, MOST_WAITING
from drumbeat.fleet.local.events.new_ticks import NEWEST
from drumbeat.fleet.local.events.schedule_changes import PORTION
from drumbeat.fleet.local.events.watcher import POLL
from drumbeat.wire.event import EventKind
from drumbeat.wire.new_job import NewJobView

PAGE = Path(__file__).parents[2] / "docs" / "http-reference.md"
ROW = re.compile(
    r"^\| `(?P<route>[A-Z]+ /\S*)` \| (?P<scope>\w+) \| (?P<does>.*) \|$", re.MULTILINE
)


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_the_page_lists_every_route_with_its_scope_and_what_it_does() -> None:
    listed = {row["route"]: (row["scope"], row["does"]) for row in ROW.finditer(page())}
    assert listed == {
        f"{route.method} {route.path}": (str(route.scope or "anybody"), route.summary)
        for route in TABLE
    }


def test_no_route_is_listed_twice() -> None:
    routes = [row["route"] for row in ROW.finditer(page())]
    assert len(routes) == len(set(routes))


def test_every_kind_of_event_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", page(), re.MULTILINE)
    assert sorted(listed) == sorted(EventKind)


def test_the_bounds_of_the_stream_are_as_told() -> None:
    assert (HEARTBEAT, KEPT, MOST_STREAMS, MOST_WAITING) == (15.0, 10_000, 100, 1_000)
    for words in ("comment every 15 s", "last 10,000 events", "100 streams", "1,000 events behind"):
        assert words in page()


def test_what_one_look_finds_is_as_told() -> None:
    assert (NEWEST, PORTION, POLL) == (200, 2_000, 2.0)
    for words in ("the 200 that were recorded last", "two seconds it looks at 2,000 schedules"):
        assert words in page()


def test_a_job_is_told_with_all_its_fields() -> None:
    (told,) = re.findall(r"^A job is `\{(.*?)\}`", page(), re.MULTILINE)
    assert set(re.findall(r'"(\w+)"', told)) | {"payload"} == {*NewJobView.__struct_fields__}


def test_every_change_that_people_answer_for_is_in_the_audit_log() -> None:
    unaccounted = [
        f"{route.method} {route.path}"
        for route in TABLE
        if route.method != "GET" and route.changes and not route.audited
    ]
    assert unaccounted == ["POST /jobs", "POST /jobs/batch"]
