"""Schedules that code no longer declares: the overview tells, and the list has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import fleet_of


def test_schedules_that_a_release_has_removed_need_attention(
    open_window: Callable[..., Window], tmp_path: Path
) -> None:
    with fleet_of(tmp_path) as fleet:
        fleet.start("web-0", "api,scheduler,worker", "before:app")
        fleet.kill("web-0")
        fleet.start("web-1", "api,scheduler,worker")
        window = open_window(fleet.url)
        page = window.open()
        rows = page.get_by_role("region", name="Needs attention").get_by_role("listitem")
        same_task = rows.filter(has_text="Code no longer declares 1 schedule")
        expect(same_task).to_contain_text("legacy/echo")
        whole = rows.filter(has_text="does not know the task of 1 schedule")
        expect(whole).to_contain_text("legacy/export")
        whole.get_by_role("link", name="legacy/export").click()
        expect(page.get_by_role("link", name="Not in code 2")).to_be_visible()
        expect(page.locator("tbody td.name a")).to_have_text(["legacy/echo", "legacy/export"])
        expect(page.get_by_role("row").filter(has_text="legacy/export")).to_contain_text(
            "not in code"
        )
        page.context.close()
