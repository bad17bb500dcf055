"""Every page, with data and without: axe finds nothing, and a phone does not scroll sideways."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet, fleet_of

PLACES = {
    "": "Needs attention",
    "schedules": "cache/warm",
    "schedules/cache%2Fwarm": "Policies",
    "schedules/cache%2Fwarm?tab=ticks": "Tick ledger",
    "schedules/cache%2Fwarm?tab=edit": "Definition",
    "schedules/cache%2Fwarm?tab=history": "somebody on this machine",
    "timeline?zoom=1h": "Ticks shown per",
    "timeline?view=table": "To come",
    "jobs": "inventory/sync",
    "jobs?status=errors": "the bank does not answer",
    "queues": "default",
    "nodes": "worker-2",
    "cluster": "Terms",
    "audit": "schedule.pause",
    "tokens": "There is no token yet",
    "no-such-page": "There is no such page",
}
EMPTY = {
    "": "Nothing has run yet",
    "schedules": "There is no schedule yet",
    "timeline": "There is no schedule yet",
    "jobs": "There is no job yet",
    "jobs?status=errors": "No failed job matches",
    "queues": "There is no queue yet",
    "audit": "Nobody has changed anything yet",
}


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A node of an app that declares nothing."""
    with fleet_of(tmp_path_factory.mktemp("nothing")) as made:
        made.start("web-1", "api,scheduler", "bare:app")
        yield made


@pytest.mark.parametrize("place", PLACES)
def test_every_page_is_accessible_and_fits_a_phone(
    open_window: Callable[..., Window], fleet: Fleet, place: str
) -> None:
    fleet.post("schedules/cache%2Fwarm/pause", {"reason": "a test"})
    fleet.post("schedules/cache%2Fwarm/resume")
    for phone in (False, True):
        window = open_window(fleet.url, phone=phone)
        page = window.open(place)
        expect(page.get_by_role("main").get_by_text(PLACES[place]).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.is_accessible(place)


@pytest.mark.parametrize("place", EMPTY)
def test_an_empty_page_says_how_it_is_filled(
    open_window: Callable[..., Window], nothing: Fleet, place: str
) -> None:
    window = open_window(nothing.url)
    page = window.open(place)
    expect(page.get_by_text(EMPTY[place])).to_be_visible()
    window.is_accessible(place)
