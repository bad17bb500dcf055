"""Text of strangers is shown as text, whatever is in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import QUEUES, Fleet, fleet_of

SCRIPT = "<script>alert('got in')</script><img src=x onerror=alert(2)>"
BACKWARDS = "\u202e\u05ea\u05d4\u05e4\u05d5\u05da\u202e \u05d4\u05db\u05dc"
LONG = "x" * 100_000
KEPT = 5_000
"""Characters at the beginning of an error that Drumbeat keeps at least."""
HUGE = 123456789012345678901234567890


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_of(tmp_path_factory.mktemp("hostile"), DRUMBEAT_QUEUES=QUEUES) as made:
        made.start("web-1", "api,worker")
        yield made


@pytest.fixture(scope="module")
def hostile(fleet: Fleet) -> dict[str, int]:
    values = {"script": SCRIPT, "backwards": BACKWARDS, "long": LONG, "huge": HUGE}
    found: dict[str, int] = {}
    for name, value in values.items():
        found[name] = fleet.post("jobs", {"task": "echo", "args": {"value": value}})["id"]
        failing = {"task": "explode", "args": {"message": str(value)}, "tags": [str(value)[:100]]}
        found[f"{name} error"] = fleet.post("jobs", failing)["id"]
    for number in found.values():
        fleet.get(f"jobs/{number}/wait?timeout=30")
    fleet.post(f"jobs/{found['script error']}/retry", {"reason": SCRIPT})
    fleet.post("queues/default/pause", {"reason": SCRIPT + BACKWARDS})
    return found


def harmless(window: Window) -> None:
    page = window.page
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    window.check()


@pytest.mark.parametrize(
    ("name", "value"),
    [("script", SCRIPT), ("backwards", BACKWARDS), ("long", LONG), ("huge", str(HUGE))],
)
def test_hostile_values_of_a_job_are_text(
    window: Window, hostile: dict[str, int], name: str, value: str
) -> None:
    page = window.open(f"jobs/{hostile[name]}")
    expect(page.get_by_role("region", name="Arguments")).to_contain_text(value)
    expect(page.get_by_role("region", name="Result")).to_contain_text(value)
    harmless(window)
    page = window.open(f"jobs/{hostile[f'{name} error']}")
    expect(page.get_by_role("group", name="Traceback")).to_contain_text(value[:KEPT])
    harmless(window)
    window.is_accessible(name)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("jobs", "explode"),
        ("jobs?status=errors", "RuntimeError"),
        ("queues", "alert('got in')"),
        ("audit", "alert('got in')"),
    ],
)
def test_lists_with_hostile_values_are_text(
    window: Window, hostile: dict[str, int], place: str, text: str
) -> None:
    page = window.open(place)
    expect(page.get_by_role("main").get_by_text(text).first).to_be_visible()
    harmless(window)
    window.is_accessible(place)


def test_a_hostile_address_is_text(window: Window) -> None:
    page = window.open("jobs?task=%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    expect(page.get_by_text("No job matches")).to_be_visible()
    harmless(window)
