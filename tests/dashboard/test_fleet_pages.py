"""Queues, nodes, the audit log and tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet, fleet_of
from tests.support.processes import PATIENCE

ADMIN = "a-secret-of-tests-0123456789"
CHANGES = re.compile(r"^(Retry|Cancel|Clone|Pause|Resume|Drain|Hand over|Changes|Revoke|Create)")


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def test_a_queue_is_paused_with_a_reason_and_resumed(window: Window, fleet: Fleet) -> None:
    for order in range(3):
        fleet.post(
            "jobs", {"task": "send_receipt", "queue": "letters", "args": {"order_id": order}}
        )
    fleet.post("jobs", {"task": "resize_images", "queue": "default", "args": {"seconds": 30}})
    page = window.open("queues")
    letters = row(page, "letters")
    expect(letters).to_contain_text("no worker")
    expect(letters.get_by_role("link", name="3")).to_have_attribute(
        "href", "#/jobs?queue=letters&status=queued"
    )
    expect(row(page, "default")).to_contain_text("open")
    letters.get_by_role("button", name="Pause letters").click()
    dialog = page.get_by_role("dialog", name="Pause queue")
    expect(dialog.get_by_role("button", name="Pause")).to_be_disabled()
    dialog.get_by_label("Reason").fill("the mail server is down")
    dialog.get_by_role("button", name="Pause").click()
    expect(letters).to_contain_text("the mail server is down")
    assert fleet.get("queues/letters")["paused"]["reason"] == "the mail server is down"
    expect(page.get_by_text("Paused letters")).to_be_visible()
    window.is_accessible("queues")
    window.picture("queues")
    letters.get_by_role("button", name="Resume letters").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(letters).not_to_contain_text("paused")
    assert fleet.get("queues/letters")["paused"] is None


def test_queues_are_found_by_their_names(window: Window, fleet: Fleet) -> None:
    fleet.post("jobs", {"task": "send_receipt", "args": {"order_id": 9}})
    page = window.open("queues")
    page.get_by_role("searchbox").fill("mai")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("searchbox").fill("nothing of that name")
    expect(page.get_by_text("No queue matches")).to_be_visible()


@pytest.fixture(scope="module")
def drained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet of which one node is to end."""
    with fleet_of(tmp_path_factory.mktemp("drained")) as made:
        made.start("web-1", "api,scheduler,worker")
        made.start("worker-2", "worker")
        yield made


def test_a_node_shows_what_it_runs_and_is_drained_with_a_reason(
    drained: Fleet, open_window: Callable[..., Window]
) -> None:
    for album in ("one", "two"):
        drained.post(
            "jobs",
            {"task": "resize_images", "queue": "default", "args": {"album": album, "seconds": 20}},
        )
    window = open_window(drained.url)
    page = window.open("nodes")
    expect(row(page, "web-1")).to_contain_text("leader")
    expect(page.get_by_role("link", name="resize_images").first).to_be_visible()
    expect(row(page, "worker-2").get_by_role("img", name="slots busy")).to_be_visible()
    window.is_accessible("nodes")
    window.picture("nodes")
    row(page, "worker-2").get_by_role("button", name="Drain worker-2").click()
    dialog = page.get_by_role("dialog", name="Drain")
    expect(dialog.get_by_role("button", name="Drain")).to_be_disabled()
    dialog.get_by_label("Reason").fill("a new version")
    dialog.get_by_role("button", name="Drain").click()
    expect(page.get_by_text("worker-2 was asked to drain")).to_be_visible()
    expect(page.get_by_role("button", name="Drain worker-2")).to_have_count(0)
    drained.nodes["worker-2"].process.wait(PATIENCE)
    page.get_by_role("button", name="Also gone").click()
    expect(row(page, "worker-2")).to_contain_text(re.compile("stopped|gone"))
    assert page.url.endswith("?gone=yes")


def test_the_audit_log_says_who_did_what_and_why(window: Window, fleet: Fleet) -> None:
    fleet.post("queues/audited/pause", {"reason": "to be recorded"})
    fleet.post("schedules/cache%2Fwarm/trigger", {"reason": "by hand"})
    page = window.open("audit")
    entry = row(page, "to be recorded")
    expect(entry).to_contain_text("queue.pause")
    expect(entry).to_contain_text("done")
    expect(entry.get_by_role("link", name="audited")).to_have_attribute(
        "href", "#/queues?q=audited"
    )
    window.is_accessible("audit")
    window.picture("audit")
    page.get_by_label("action").fill("schedule.trigger")
    page.get_by_role("button", name="Filter").click()
    expect(row(page, "by hand")).to_be_visible()
    expect(entry).to_have_count(0)
    page.reload()
    expect(page.get_by_label("action")).to_have_value("schedule.trigger")
    row(page, "by hand").get_by_role("button", name="Details").click()
    expect(page.get_by_role("dialog")).to_contain_text("cache/warm")
    page.get_by_role("button", name="Close").click()
    page.get_by_label("target").fill("no such thing")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No entry matches")).to_be_visible()
    fleet.post("queues/audited/resume")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet that asks for a token."""
    with fleet_of(tmp_path_factory.mktemp("guarded"), DRUMBEAT_API_TOKEN=ADMIN) as made:
        made.start("web-1", "api,scheduler,worker")
        yield made


def logged_in(open_window: Callable[..., Window], fleet: Fleet, token: str) -> Window:
    window = open_window(fleet.url)
    window.expected = ("401", "403")
    page = window.open()
    page.get_by_label("Token").fill(token)
    page.get_by_label("Token").press("Enter")
    expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    return window


def test_an_admin_creates_a_token_sees_it_once_and_revokes_it(
    open_window: Callable[..., Window], guarded: Fleet
) -> None:
    window = logged_in(open_window, guarded, ADMIN)
    page = window.page
    page.get_by_role("link", name="Tokens").click()
    expect(page.get_by_text("There is no token yet")).to_be_visible()
    page.get_by_role("button", name="Create a token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("ci")
    dialog.get_by_label("Scope").select_option("operator")
    window.is_accessible("a new token")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("Copy it now")).to_be_visible()
    secret = dialog.locator("code").inner_text()
    assert guarded.get("whoami", secret)["scope"] == "operator"
    dialog.get_by_role("button", name="Done").click()
    assert secret not in page.content()
    expect(row(page, "ci")).to_contain_text("valid")
    window.is_accessible("tokens")
    window.picture("tokens")
    row(page, "ci").get_by_role("button", name="Revoke ci").click()
    dialog.get_by_label("Reason").fill("it leaked")
    dialog.get_by_role("button", name="Revoke").click()
    expect(row(page, "ci")).to_contain_text("revoked")
    (entry, *_) = guarded.get("audit?action=token.revoke", ADMIN)
    assert entry["reason"] == "it leaked"


def test_a_viewer_has_no_button_that_changes_something_and_no_tokens(
    open_window: Callable[..., Window], guarded: Fleet
) -> None:
    token = guarded.post("tokens", {"name": "eyes", "scope": "viewer"}, ADMIN)["token"]
    job = guarded.post(
        "jobs", {"task": "explode", "queue": "default", "args": {"message": "no"}}, ADMIN
    )["id"]
    guarded.get(f"jobs/{job}/wait?timeout=30", ADMIN)
    window = logged_in(open_window, guarded, token)
    page = window.page
    expect(page.get_by_role("link", name="Queues")).to_be_visible()
    expect(page.get_by_role("link", name="Tokens")).to_have_count(0)
    shown = {
        "jobs": "explode",
        "jobs?status=errors": "RuntimeError",
        f"jobs/{job}": "Attempts",
        "queues": "default",
        "nodes": "web-1",
        "cluster": "Terms",
        "audit": "token.create",
    }
    for place, text in shown.items():
        window.open(place)
        expect(page.get_by_role("main").get_by_text(text).first).to_be_visible()
        expect(page.get_by_role("main").get_by_role("button", name=CHANGES)).to_have_count(0)
