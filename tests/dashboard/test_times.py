"""Times: in the zone that was chosen, which is named, and what changes of the clock do."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet


def test_times_are_in_the_zone_that_was_chosen_and_name_it(window: Window) -> None:
    page = window.open("schedules/reports%2Fdigest")
    first = page.get_by_role("region", name="Next 20 ticks").get_by_role("listitem").first
    stands = page.get_by_role("region", name="How it stands")
    zones = page.get_by_role("group", name="Time zone")
    expect(first).to_contain_text("Paris")
    expect(stands).to_contain_text("CE")
    zones.get_by_role("button", name="UTC").click()
    expect(first).to_contain_text(":00:00UTC")
    expect(stands).to_contain_text("UTC")
    zones.get_by_role("button", name="Own").click()
    expect(first).to_contain_text(":00:00New York")
    page.reload()
    expect(first).to_contain_text(":00:00New York")
    first.get_by_role("button", name="Skip").click()
    expect(page.get_by_role("dialog")).to_contain_text(":00:00 New York will be recorded")


def test_the_next_ticks_tell_what_changes_of_the_clock_do(window: Window, fleet: Fleet) -> None:
    last_sunday = {"type": "cron", "expression": "30 2 * * 0L", "tz": "Europe/Paris"}
    fleet.post("schedules", {"name": "made/clock", "task": "echo", "when": last_sunday})
    page = window.open("schedules/made%2Fclock")
    coming = page.get_by_role("region", name="Next 20 ticks")
    expect(coming).to_contain_text("02:30 does not exist")
    expect(coming).to_contain_text("02:30 comes twice")
    window.is_accessible("changes of the clock")
