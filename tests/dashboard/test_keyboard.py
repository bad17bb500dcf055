"""Keys: what they open, and that single letters can be switched off."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet


def test_ctrl_k_finds_pages_and_schedules(window: Window) -> None:
    page = window.open()
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Go to")
    expect(dialog.get_by_role("combobox")).to_be_focused()
    expect(dialog.get_by_role("option", name="Timeline")).to_be_visible()
    page.keyboard.type("billing")
    found = dialog.get_by_role("option", name="billing/nightly")
    expect(found).to_have_attribute("aria-selected", "true")
    window.is_accessible("what Ctrl-K opens")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="billing/nightly")).to_be_visible()
    expect(dialog).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_ctrl_k_finds_a_job_by_its_number_and_says_that_one_is_missing(
    window: Window, fleet: Fleet
) -> None:
    window.expected = ("404",)
    job = fleet.get("jobs?limit=1")[0]
    page = window.open()
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Go to")
    field = dialog.get_by_role("combobox")
    field.fill("999999999")
    expect(dialog.get_by_role("status")).to_contain_text("There is no job 999999999")
    field.fill(str(job["id"]))
    expect(dialog.get_by_role("option", name=f"#{job['id']}")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=job["task"])).to_be_visible()


def test_letters_go_to_pages_until_they_are_switched_off(window: Window) -> None:
    page = window.open()
    heading = page.get_by_role("heading", level=1)
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(heading).to_have_text("Schedules")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.get_by_role("button", name="Keys").click()
    page.keyboard.press("/")
    expect(page.get_by_role("button", name="Keys")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.reload()  # the choice is kept
    expect(page.get_by_role("button", name="Keys")).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile("#/schedules$"))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Go to")).to_be_visible()
