"""One schedule: its ledger with the reasons, its coming ticks, and every change by clicking."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet

RULE = {"type": "cron", "expression": "0 3 * * *", "tz": "Europe/Paris"}
NUMBERS = itertools.count(1)


@pytest.fixture
def name(fleet: Fleet) -> str:
    """A schedule that only this test changes."""
    name = f"orders/export-{next(NUMBERS)}"
    definition = {"name": name, "task": "echo", "when": RULE, "args": {"value": 2**60}}
    fleet.post("schedules", definition)
    return name


def opened(window: Window, name: str, tab: str = "") -> Page:
    return window.open(f"schedules/{quote(name, safe='')}" + (f"?tab={tab}" if tab else ""))


def test_a_tick_that_failed_says_who_fired_it_and_what_became_of_its_job(window: Window) -> None:
    page = opened(window, "payments/settle", "ticks")
    page.get_by_role("button", name="Why?").first.click()
    why = page.locator("tr.why")
    expect(why).to_contain_text("the bank does not answer")
    expect(why).to_contain_text(re.compile(r"leader web-1:\w+, epoch 1"))
    expect(why.get_by_text("fire", exact=True)).to_be_visible()
    expect(why.get_by_role("link")).to_have_attribute("href", re.compile(r"#/jobs/\d+"))
    assert "why=" in page.url
    page.reload()
    expect(page.locator("tr.why")).to_contain_text("the bank does not answer")
    window.is_accessible("ticks")


def test_a_tick_that_was_skipped_names_who_paused_the_schedule_and_why(
    window: Window, fleet: Fleet
) -> None:
    path = "schedules/inventory%2Fsync"
    fleet.post(f"{path}/pause", {"reason": "the warehouse is closed"})
    page = opened(window, "inventory/sync", "ticks&only=skipped")
    row = page.get_by_role("row").filter(has_text="skipped: paused").first
    expect(row).to_be_visible()
    row.get_by_role("button", name="Why?").click()
    why = page.locator("tr.why")
    expect(why).to_contain_text("the schedule was paused")
    expect(why).to_contain_text("the warehouse is closed")
    expect(why).to_contain_text("schedule.pause")
    fleet.post(f"{path}/resume")


def test_its_next_ticks_its_rule_and_its_policies_are_there(window: Window) -> None:
    page = opened(window, "billing/nightly")
    coming = page.get_by_role("region", name="Next 20 ticks")
    expect(coming.get_by_role("listitem")).to_have_count(20)
    expect(coming.get_by_role("listitem").first).to_contain_text("02:30:00Paris")
    expect(page.get_by_role("region", name="Policies")).to_contain_text("only the latest fires")
    expect(page.get_by_role("region", name="Rule")).to_contain_text("30 2 * * *")
    expect(page.get_by_role("region", name="How it stands")).to_contain_text("It has never fired")
    window.is_accessible("a schedule")
    window.picture("schedule")


def test_a_tick_is_skipped_and_the_skip_undone(window: Window, fleet: Fleet, name: str) -> None:
    page = opened(window, name)
    coming = page.get_by_role("region", name="Next 20 ticks")
    coming.get_by_role("button", name="Skip").first.click()
    page.get_by_role("dialog").get_by_label("Reason").fill("a holiday")
    page.get_by_role("dialog").get_by_role("button", name="Skip").click()
    expect(coming.get_by_role("listitem").first).to_contain_text("skipped by hand")
    assert len(fleet.get(f"schedules/{quote(name, safe='')}")["skips"]) == 1
    coming.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="Let it fire").click()
    expect(coming.get_by_role("button", name="Undo")).to_have_count(0)


def test_it_is_triggered_with_other_arguments_and_every_digit(
    window: Window, fleet: Fleet, name: str
) -> None:
    page = opened(window, name)
    expect(page.get_by_role("region", name="Arguments")).to_contain_text("1152921504606846976")
    page.get_by_role("button", name="Trigger").click()
    dialog = page.get_by_role("dialog", name="Trigger it now")
    dialog.get_by_label("Arguments, as JSON").fill('{"value": 9007199254740993,}')
    dialog.get_by_role("button", name="Trigger").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The arguments are no JSON")
    dialog.get_by_label("Arguments, as JSON").fill('{"value": 9007199254740993}')
    dialog.get_by_role("button", name="Trigger").click()
    link = page.get_by_role("link", name=re.compile(r"^Job \d+$"))
    expect(link).to_be_visible()
    job = fleet.get(f"jobs/{link.inner_text().split()[1]}")
    assert job["arguments"] == {"value": 9007199254740993}


def test_a_backfill_lists_the_ticks_before_it_fires_them(
    window: Window, fleet: Fleet, name: str
) -> None:
    page = opened(window, name)
    page.get_by_role("button", name="More changes").click()
    page.get_by_role("menuitem", name="Backfill").click()
    dialog = page.get_by_role("dialog", name="Backfill")
    days_ago = datetime.now(UTC) - timedelta(days=3)  # noqa: TID251 - real processes, real time
    dialog.get_by_label("From").fill(days_ago.strftime("%Y-%m-%dT12:00"))
    dialog.get_by_role("button", name="Look first").click()
    expect(dialog.get_by_role("status")).to_contain_text(re.compile(r"[23] ticks would fire"))
    expect(dialog.get_by_role("button", name=re.compile("^Fire"))).to_be_disabled()
    window.is_accessible("a backfill")
    dialog.get_by_label("Reason").fill("the disk was full")
    dialog.get_by_role("button", name=re.compile("^Fire")).click()
    expect(page.get_by_text(re.compile(r"Fired [23] ticks"))).to_be_visible()
    ticks = fleet.get(f"schedules/{quote(name, safe='')}/ticks")
    assert all(tick["backfilled"] for tick in ticks)
    assert len(ticks) in (2, 3)


def test_an_edit_shows_which_ticks_change_and_is_in_the_history(
    window: Window, fleet: Fleet, name: str
) -> None:
    page = opened(window, name, "edit")
    changed = page.get_by_role("list", name="Differences")
    expect(changed.get_by_role("listitem")).to_have_count(10)
    expect(changed.get_by_text("new")).to_have_count(0)
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Cron expression").fill("0 3,15 * * *")
    expect(changed.get_by_text("new")).to_have_count(5)
    page.get_by_label("Reason").fill("twice a day from now on")
    window.is_accessible("an edit")
    window.picture("edit")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Rule")).to_contain_text("0 3,15 * * *")
    page.get_by_role("link", name="History").click()
    row = page.get_by_role("row").filter(has_text="patch")
    expect(row).to_contain_text("twice a day from now on")
    expect(row).to_contain_text("done")


def test_an_edit_of_something_that_has_changed_since_is_refused(
    window: Window, fleet: Fleet, name: str
) -> None:
    page = opened(window, name, "edit")
    page.get_by_label("Cron expression").fill("0 4 * * *")
    page.get_by_label("Reason").fill("later")
    fleet.post(f"schedules/{quote(name, safe='')}/pause")
    expect(page.get_by_role("alert")).to_contain_text("Somebody else has changed the schedule")
    window.expected = ("412",)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Open it again to edit")).to_be_visible()
    assert fleet.get(f"schedules/{quote(name, safe='')}")["trigger"]["expression"] == "0 3 * * *"


def test_it_is_paused_and_deleted_for_a_reason(window: Window, fleet: Fleet, name: str) -> None:
    page = opened(window, name)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("not now")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="More changes").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("never again")
    window.expected = ("404",)
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Schedules", level=1)).to_be_visible()
    assert [each["name"] for each in fleet.get(f"schedules?prefix={quote(name)}")] == []
