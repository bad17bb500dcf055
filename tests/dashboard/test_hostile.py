"""Text that strangers wrote is shown as text, however it looks and however long it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet

SCRIPT = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
BACKWARDS = "\u202egnp.exe \u05e9\u05dc\u05d5\u05dd"
LONG = "Lorem ipsum " * 9_000
HUGE = 123456789012345678901234567890


@pytest.fixture(scope="module", autouse=True)
def schedules(fleet: Fleet) -> None:
    for name, text in (
        ("hostile/script " + SCRIPT[:100], SCRIPT),
        (BACKWARDS, BACKWARDS),
        ("{@html name}", "{{7*7}} ${7*7}"),
        ("hostile/long", "x"),
    ):
        definition = {"name": name, "task": "echo", "when": "@yearly", "args": {"value": text}}
        fleet.post("schedules", {**definition, "tags": [text[:150]], "description": text[:3_000]})


@pytest.mark.parametrize("place", ["schedules?q=echo", "schedules", "timeline", ""])
def test_lists_show_hostile_names_as_text(window: Window, place: str) -> None:
    page = window.open(place)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if place:
        expect(page.get_by_text("hostile/script <img").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert "taken" not in page.title()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_arguments_and_errors_are_text_with_every_digit(window: Window, fleet: Fleet) -> None:
    for value in (SCRIPT, LONG, [HUGE, {"__proto__": HUGE}]):
        fleet.post("schedules/hostile%2Flong/trigger", {"args": {"value": value}})
    page = window.open("schedules/hostile%2Flong")
    expect(page.get_by_role("region", name="Arguments")).to_be_visible()
    page.get_by_role("button", name="Trigger").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Arguments, as JSON").fill(f'{{"nobody": {HUGE}}}')
    window.expected = ("422",)
    dialog.get_by_role("button", name="Trigger").click()
    expect(dialog.get_by_role("alert")).to_contain_text("nobody")
    assert "taken" not in page.title()


def test_an_error_of_100_kilobytes_does_not_break_the_page(window: Window, fleet: Fleet) -> None:
    definition = {"name": "hostile/fails", "task": "explode", "when": "@yearly"}
    message = f"{LONG}{SCRIPT}"  # of a long error the end is kept
    fleet.post("schedules", {**definition, "args": {"message": message}})
    fleet.post(
        "schedules/hostile%2Ffails/backfill", {"from": "2025-01-01T00:00:00Z", "reason": "x"}
    )
    page = window.open("schedules/hostile%2Ffails?tab=ticks")
    expect(page.get_by_text("fired, failed").first).to_be_visible()
    page.get_by_role("button", name="Why?").first.click()
    expect(page.locator("tr.why")).to_contain_text("<script>")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    window.is_accessible("a long error")
