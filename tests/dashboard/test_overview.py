"""The overview: what needs attention comes first, and each number leads to its list."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet

FIRST_LOAD = 120_000
"""Bytes by gzip until the overview is there, without data."""
ENCODED = """() => performance.getEntriesByType('navigation')
    .concat(performance.getEntriesByType('resource'))
    .filter(each => each.name.endsWith('/') || each.name.includes('/assets/'))
    .map(each => each.encodedBodySize)"""


def test_a_failing_schedule_needs_attention_and_leads_to_its_ledger(window: Window) -> None:
    page = window.open()
    attention = page.get_by_role("region", name="Needs attention")
    row = attention.get_by_role("listitem").filter(has_text="payments/settle").first
    expect(row).to_contain_text("the bank does not answer")
    link = row.get_by_role("link", name="payments/settle")
    expect(link).to_have_attribute("href", "#/schedules/payments%2Fsettle?tab=ticks")


def test_each_number_leads_to_its_list(window: Window) -> None:
    page = window.open()
    expect(page.get_by_role("link", name="Schedules 5")).to_have_attribute("href", "#/schedules")
    running = page.get_by_role("link", name="Running")
    expect(running).to_have_attribute("href", "#/jobs?status=running")
    expect(page.get_by_role("link", name="Leader web-1")).to_contain_text("epoch 1")


def test_the_charts_begin_while_one_looks(window: Window) -> None:
    page = window.open()
    expect(page.get_by_role("img", name="Jobs that completed")).to_be_visible()
    window.is_accessible("overview")


def test_a_phone_shows_everything_without_scrolling_sideways(
    open_window: Callable[..., Window], fleet: Fleet
) -> None:
    window = open_window(fleet.url, phone=True)
    page = window.open()
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Schedules", exact=True).click()
    expect(page.get_by_role("heading", name="Schedules", level=1)).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_have_attribute("aria-expanded", "false")
    window.is_accessible("phone")


def test_the_first_load_is_small(window: Window) -> None:
    page = window.open()
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    expect(page.get_by_role("img", name="Jobs that completed")).to_be_visible()
    sizes = page.evaluate(ENCODED)
    assert len(sizes) > 3
    assert 0 < sum(sizes) < FIRST_LOAD
