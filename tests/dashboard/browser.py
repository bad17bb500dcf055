"""A browser, and what every page in it has to hold to."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped]  # it has no types
    Axe,  # pyright: ignore[reportMissingTypeStubs]
)
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from servers.packages import CHROMIUM

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 30_000
"""The longest wait for something on a page, in milliseconds: the machine may be busy."""
IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE, PHONE = (1440, 900), (390, 844)
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until what was changed is painted."""
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def taking_pictures() -> bool:
    """Whether this run takes the pictures of the docs anew."""
    return bool(os.environ.get("PICTURES"))


@contextmanager
def chromium() -> Generator[Browser]:
    """Debian's Chromium; `Missing` if it is not installed."""
    program = CHROMIUM.require()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Window:
    """A page in the browser, which notes what went wrong in it."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list[str])
    expected: tuple[str, ...] = ()
    """Words of errors in the console that a test causes, such as of a refused login."""

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _told(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def open(self, place: str = "") -> Page:
        """Open a page by the part of its address behind `#/`."""
        self.page.goto(f"{self.url}/#/{place}")
        return self.page

    def check(self) -> None:
        """Nothing went wrong in the console, and nothing was loaded from elsewhere."""
        faults = [each for each in self.faults if not any(words in each for words in self.expected)]
        assert faults == []

    def is_accessible(self, where: str = "") -> None:
        """Axe finds no violation, in light and in dark."""
        for theme in THEMES:
            self.page.emulate_media(color_scheme=theme)
            found = Axe().run(  # pyright: ignore[reportUnknownMemberType]  # it has no types
                self.page, options={"runOnly": {"type": "tag", "values": STANDARDS}}
            )
            assert found.violations_count == 0, f"{where} {theme}: {found.generate_report()}"

    def picture(self, name: str) -> None:
        """Keep screenshots for the docs, light and dark, if `PICTURES` is set."""
        if not taking_pictures():
            return
        for theme in THEMES:
            self.page.emulate_media(color_scheme=theme)
            self.page.evaluate(PAINTED)
            self.page.screenshot(
                path=IMAGES / f"dashboard-{name}-{theme}.png", animations="disabled"
            )
        self.page.emulate_media(color_scheme="light")
