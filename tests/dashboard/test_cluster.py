"""The page of the cluster, while leaders come and go."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import PATIENCE, Window
from tests.dashboard.processes import Fleet, fleet_of

WITHIN = 2_000
"""Milliseconds after the API knows another leader until the page shows it."""


KNOWS = """async ([label, within]) => {
    const end = performance.now() + within
    while (performance.now() < end) {
        const election = await (await fetch('elections/scheduler')).json()
        if ((election.leader ?? '').startsWith(`${label}:`)) return performance.now()
        await new Promise(done => setTimeout(done, 50))
    }
    throw new Error(`${label} does not lead`)
}"""
"""When the API tells that a node leads, by the clock of the page."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """`first-1` leads, and `web-1` shows the page."""
    with fleet_of(tmp_path_factory.mktemp("cluster")) as made:
        made.start("first-1", "scheduler,worker", says="Became the leader")
        made.start("web-1", "api,scheduler,worker")
        yield made


def test_a_leader_that_is_killed_is_replaced_on_the_open_page(window: Window, fleet: Fleet) -> None:
    page = window.open("cluster")
    terms = page.get_by_role("table", name="Terms")
    leads = terms.get_by_role("row").filter(has_text="leads")
    expect(leads).to_contain_text("first-1")
    expect(page.get_by_text("only the leader knows it exactly")).to_be_visible()
    fleet.kill("first-1")
    known = page.evaluate(KNOWS, ["web-1", PATIENCE])
    expect(leads).to_contain_text("web-1")
    assert page.evaluate("performance.now()") - known < WITHIN
    expect(terms.get_by_role("row").nth(1)).to_contain_text("at most")
    expect(page.get_by_text("of 3 s; it is renewed in time")).to_be_visible()
    window.is_accessible("cluster")
    window.picture("cluster")


def test_a_leader_hands_over_after_a_reason_was_given(window: Window, fleet: Fleet) -> None:
    fleet.start("third-1", "scheduler,worker", says="Scheduler started")
    page = window.open("cluster")
    page.get_by_role("button", name="Hand over").click()
    dialog = page.get_by_role("dialog", name="hand over?")
    dialog.get_by_label("Reason").fill("a test of the succession")
    dialog.get_by_role("button", name="Hand over").click()
    leads = page.get_by_role("table", name="Terms").get_by_role("row").filter(has_text="leads")
    expect(leads).to_contain_text("third-1")


def test_the_backends_answer_and_the_clocks_agree(window: Window) -> None:
    page = window.open("cluster")
    backends = page.get_by_role("table", name="Backends")
    expect(backends.get_by_role("row").filter(has_text="store")).to_contain_text(
        re.compile(r"sqlite.*answers.*\d ms")
    )
    expect(backends.get_by_role("row").filter(has_text="coordinator")).to_contain_text("answers")
    expect(page.get_by_text("Clock of this server")).to_be_visible()
