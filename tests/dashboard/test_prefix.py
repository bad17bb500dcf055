"""The dashboard below a path of another web app."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import INSIDE
from tests.support.processes import PATIENCE, Node

RUNS = "Uvicorn running on http://"
ADMIN = "the-first-token-of-all-0123456789"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a web app that has mounted the dashboard."""
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "website:site", "--port", "0", "--no-use-colors"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(INSIDE),
            "DRUMBEAT_STORE": f"sqlite:///{tmp_path / 'site.db'}",
            "DRUMBEAT_API_TOKEN": ADMIN,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    node = Node(process)
    try:
        node.says(RUNS)
        yield "http://" + node.seen[-1].split(RUNS)[1].split()[0]
    finally:
        process.kill()
        process.wait()
        node.reading.join(PATIENCE)


def test_all_of_it_works_below_a_path(open_window: Callable[..., Window], address: str) -> None:
    window = open_window(f"{address}/tools/beat")
    window.expected = ("401",)
    paths: list[str] = []
    window.page.on("request", lambda each: paths.append(each.url.removeprefix(address)))
    window.page.goto(f"{address}/tools/beat")
    page = window.page
    page.get_by_label("Token").fill(ADMIN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    expect(page.get_by_text("admin · live")).to_be_visible()
    page.get_by_role("link", name="Schedules", exact=True).click()
    row = page.get_by_role("row").filter(has_text="cache/warm")
    row.get_by_role("button", name="Changes").click()
    page.get_by_role("menuitem", name="Trigger now").click()
    page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
    page.get_by_role("link", name=re.compile(r"^Job \d+$")).click()
    expect(page.get_by_role("heading", name="cache/warm")).to_be_visible()
    expect(page.get_by_role("region", name="Submit it again")).to_contain_text(
        f"{address}/tools/beat/jobs"
    )
    assert [each for each in paths if not each.startswith("/tools/beat")] == []
    page.context.close()
