"""The browser, and a fleet of real processes that the tests of one module share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.conftest import shared
from tests.dashboard.browser import PHONE, WIDE, Window, chromium
from tests.dashboard.processes import Fleet, fleet_of


@pytest.fixture(scope="module")  # while it is there no other loop can run in this thread
def browser(pytestconfig: pytest.Config) -> Iterator[Browser]:
    with shared(pytestconfig, chromium) as started:
        yield started


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two nodes on one SQLite file: `web-1` with all roles, and `worker-2`."""
    with fleet_of(tmp_path_factory.mktemp("fleet")) as made:
        made.start("web-1", "api,scheduler,worker")
        made.start("worker-2", "worker")
        yield made


@pytest.fixture
def open_window(browser: Browser) -> Iterator[Callable[..., Window]]:
    """Opens windows for any fleet; each has cookies and storage of its own."""
    windows: list[Window] = []

    def opened(url: str, *, phone: bool = False) -> Window:
        width, height = PHONE if phone else WIDE
        context = browser.new_context(
            viewport={"width": width, "height": height},
            timezone_id="Europe/Paris",
            locale="en-GB",
            reduced_motion="reduce",
        )
        windows.append(Window(context.new_page(), url))
        return windows[-1]

    yield opened
    for window in windows:
        window.page.context.close()
    for window in windows:
        window.check()


@pytest.fixture
def window(open_window: Callable[..., Window], fleet: Fleet) -> Window:
    return open_window(fleet.url)
