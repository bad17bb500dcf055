"""Six hours of a fleet: what is well and what is not is seen at a glance. The docs show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Window, taking_pictures
from tests.dashboard.processes import Fleet, fleet_of

PAST = (
    "inventory/sync",
    "payments/settle",
    "search/reindex",
    "reports/hourly",
    "mail/newsletter",
    "backup/snapshot",
    "sessions/expire",
)


LOOKS = 20
"""Points of the charts in the pictures: the server looks about every 5 s."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with a past, whose first leader was killed."""
    with fleet_of(tmp_path_factory.mktemp("shop"), DRUMBEAT_LEASE_TTL="3s") as made:
        app = "showcase:app"
        made.start("scheduler-1", "scheduler", app, "Became the leader")
        made.start("web-1", "api,scheduler,worker", app)
        made.start("worker-2", "worker", app)
        began = datetime.now(UTC) - timedelta(hours=4)  # noqa: TID251 - real processes, real time
        for name in PAST:
            span = {"from": began.isoformat(), "reason": "moved from the old scheduler"}
            made.post(f"schedules/{quote(name, safe='')}/backfill", span)
        path = "schedules/cache%2Fwarm/pause"
        made.post(path, {"reason": "anna: the cache moves to another machine"})
        made.kill("scheduler-1")
        made.nodes["web-1"].says("Became the leader")
        yield made


def test_the_list_shows_what_became_of_the_last_ticks(
    open_window: Callable[..., Window], shop: Fleet
) -> None:
    window = open_window(shop.url)
    page = window.open("schedules")
    row = page.get_by_role("row").filter(has_text="payments/settle")
    expect(row.get_by_role("link", name="failed")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="cache/warm")).to_contain_text("paused")
    window.is_accessible("the schedules of a shop")
    window.picture("schedules")


def test_the_timeline_shows_the_past_and_what_is_to_come(
    open_window: Callable[..., Window], shop: Fleet
) -> None:
    window = open_window(shop.url)
    page = window.open("timeline")
    expect(page.locator("g.completed")).not_to_have_count(0)
    expect(page.locator("g.failed")).not_to_have_count(0)
    expect(page.locator("circle.future")).not_to_have_count(0)
    expect(page.locator("path.cross title")).to_contain_text("scheduler-1 died")
    window.is_accessible("the timeline of a shop")
    window.picture("timeline")


def test_a_tick_that_failed_tells_all_of_it(
    open_window: Callable[..., Window], shop: Fleet
) -> None:
    window = open_window(shop.url)
    page = window.open("schedules/mail%2Fnewsletter?tab=ticks")
    page.get_by_role("button", name="Why?").nth(1).click()
    expect(page.locator("tr.why")).to_contain_text("no greeting within 30 s")
    window.picture("why")


def test_the_overview_begins_with_what_fails(
    open_window: Callable[..., Window], shop: Fleet
) -> None:
    window = open_window(shop.url)
    page = window.open()
    attention = page.get_by_role("region", name="Needs attention")
    expect(attention).to_contain_text("mail/newsletter")
    expect(attention).to_contain_text("scheduler-1")
    expect(page.get_by_role("img", name="Jobs that completed")).to_be_visible()
    window.is_accessible("the overview of a shop")
    if taking_pictures():
        wait_for_charts(page, shop)
    window.picture("overview")


def test_a_phone_shows_the_overview_without_scrolling_sideways(
    open_window: Callable[..., Window], shop: Fleet
) -> None:
    window = open_window(shop.url, phone=True)
    page = window.open()
    attention = page.get_by_role("region", name="Needs attention")
    expect(attention).to_contain_text("mail/newsletter")
    expect(page.get_by_role("img", name="Jobs that completed")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    window.is_accessible("the overview on a phone")
    window.picture("phone-overview")


def wait_for_charts(page: Page, shop: Fleet) -> None:
    """Let orders come until the server has looked at the queues so often that charts tell it."""
    while (looks := len(shop.get("overview/history")["at"])) < LOOKS:
        orders = range(8 + looks * 7 % 13)
        jobs = [{"task": "send_receipt", "args": {"order_id": order}} for order in orders]
        shop.post("jobs/batch", {"jobs": jobs})
        page.wait_for_event("response", lambda answer: "overview/history" in answer.url)
