"""The timeline: past and coming ticks, the leaders' terms, and the same as a table."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet


def test_ticks_terms_and_what_is_to_come_are_drawn(window: Window) -> None:
    page = window.open("timeline?zoom=1h")
    drawing = page.get_by_role("img", name="Timeline of 5 schedules")
    expect(drawing.locator("g.failed").first).to_be_attached()
    expect(drawing.locator("circle.future").first).to_be_attached()
    expect(drawing.locator("rect.term title")).to_contain_text(re.compile("web-1:.* led, epoch 1"))
    expect(drawing.locator("line.now")).to_be_attached()
    window.is_accessible("timeline")


def test_a_mark_leads_to_the_reason_of_its_tick(window: Window) -> None:
    page = window.open("timeline?zoom=1h&q=settle")
    page.locator("g.failed").last.click()
    expect(page.locator("tr.why")).to_contain_text("the bank does not answer")


def test_zoom_place_and_view_are_in_the_address(window: Window) -> None:
    page = window.open("timeline")
    page.get_by_role("button", name="7 d").click()
    page.get_by_role("button", name="Earlier").click()
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("columnheader", name="Missed")).to_be_visible()
    assert re.search(r"#/timeline\?zoom=7d&at=\d+&view=table$", page.url)
    page.reload()
    expect(page.get_by_role("columnheader", name="Missed")).to_be_visible()
    expect(page.get_by_role("button", name="7 d")).to_have_attribute("aria-pressed", "true")
    window.is_accessible("timeline as a table")


def test_a_node_that_dies_is_marked(window: Window, fleet: Fleet) -> None:
    page = window.open("timeline?zoom=1h")
    expect(page.get_by_role("img", name="Timeline")).to_be_visible()
    fleet.kill("worker-2")
    expect(page.get_by_text("a node died")).to_be_visible()
    expect(page.locator("path.cross title")).to_contain_text("worker-2 died")
    page.goto(f"{fleet.url}/#/nodes?gone=yes")
    expect(page.get_by_role("row").filter(has_text="worker-2")).to_contain_text("died")
    page.goto(f"{fleet.url}/#/")
    attention = page.get_by_role("region", name="Needs attention")
    expect(attention.get_by_role("listitem").filter(has_text="worker-2")).to_contain_text("died")
    fleet.start("worker-2", "worker")
