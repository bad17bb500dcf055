"""The list of schedules: search, states, and changes of several at once."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet


def names(page: Page) -> list[str]:
    return page.locator("tbody td.name a").all_inner_texts()


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


def test_each_schedule_is_there_with_its_rule_its_next_tick_and_its_last_ticks(
    window: Window,
) -> None:
    page = window.open("schedules")
    nightly = row(page, "billing/nightly")
    expect(nightly).to_contain_text("At 02:30 every day (Europe/Paris)")
    expect(nightly).to_contain_text("30 2 * * *")
    expect(nightly).to_contain_text("in ")
    expect(row(page, "payments/settle")).to_contain_text("failing")
    strip = row(page, "inventory/sync").get_by_role("link", name="completed")
    expect(strip).to_be_visible()
    window.is_accessible("schedules")


def test_a_search_is_done_while_one_types_and_stays_in_the_address(window: Window) -> None:
    page = window.open("schedules")
    expect(page.locator("tbody td.name a")).to_have_count(5)
    page.keyboard.press("/")
    page.keyboard.type("york day")
    expect(page.locator("tbody td.name a")).to_have_count(1)
    assert names(page) == ["reports/digest"]
    assert page.url.endswith("#/schedules?q=york+day")
    page.reload()
    expect(page.get_by_role("searchbox")).to_have_value("york day")
    expect(page.locator("tbody td.name a")).to_have_count(1)
    page.get_by_role("searchbox").fill("no such thing")
    expect(page.get_by_text("No schedule matches")).to_be_visible()


def test_the_list_is_sorted_by_the_heads_of_its_columns(window: Window) -> None:
    page = window.open("schedules")
    expect(page.locator("tbody td.name a")).to_have_count(5)
    page.get_by_role("button", name="State").click()
    expect(page.locator("tbody td.name a").first).to_have_text("payments/settle")
    assert page.url.endswith("?sort=state")
    page.get_by_role("button", name="Schedule").click()
    page.get_by_role("button", name="Schedule").click()
    expect(page.locator("tbody td.name a").first).to_have_text("reports/digest")


def test_several_schedules_are_paused_with_a_reason_and_resumed(
    window: Window, fleet: Fleet
) -> None:
    page = window.open("schedules")
    for name in ("cache/warm", "reports/digest"):
        page.get_by_role("checkbox", name=f"Choose {name}").check()
    page.get_by_role("toolbar").get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog", name="Pause 2 schedules?")
    expect(dialog.get_by_role("button", name="Pause")).to_be_disabled()
    dialog.get_by_label("Reason").fill("the disk is full")
    window.is_accessible("a dialog")
    dialog.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused 2 schedules")).to_be_visible()
    expect(row(page, "cache/warm")).to_contain_text("paused")
    assert fleet.get("schedules/cache%2Fwarm")["pause_reason"] == "the disk is full"
    assert fleet.get("schedules/reports%2Fdigest")["paused"]
    row(page, "cache/warm").get_by_role("button", name="Changes").click()
    page.get_by_role("menuitem", name="Resume").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(row(page, "cache/warm")).to_contain_text("ok")
    fleet.post("schedules/reports%2Fdigest/resume")


def test_a_schedule_is_triggered_and_its_job_is_named(window: Window, fleet: Fleet) -> None:
    page = window.open("schedules?q=nightly")
    row(page, "billing/nightly").get_by_role("button", name="Changes").click()
    page.get_by_role("menuitem", name="Trigger now").click()
    page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
    link = page.get_by_role("link", name=re.compile(r"^Job \d+$"))
    expect(link).to_be_visible()
    assert fleet.get(f"jobs/{link.inner_text().split()[1]}")["task"] == "billing/nightly"
