"""The list of jobs, its groups of errors and changes of many jobs; and the page of one job."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.dashboard.browser import Window
from tests.dashboard.processes import QUEUES, Fleet, fleet_of

HUGE = 9223372036854775807
LEFT_EDGES = """table => [table.tHead.rows[0], table.tBodies[0].rows[0]].map(row =>
    [...row.cells].filter(cell => cell.offsetParent !== null).map(cell =>
        cell.getBoundingClientRect().left + parseFloat(getComputedStyle(cell).paddingLeft)))"""
"""Where the contents of the seen headings and of the cells of the first row begin."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A node with all roles, whose worker takes jobs of every queue of the shop."""
    with fleet_of(tmp_path_factory.mktemp("jobs"), DRUMBEAT_QUEUES=QUEUES) as made:
        made.start("web-1", "api,scheduler,worker")
        yield made


@pytest.fixture(scope="module")
def jobs(fleet: Fleet) -> dict[str, int]:
    """Jobs of every kind: their numbers by what they are for."""

    def made(task: str, **rest: Any) -> int:
        number: int = fleet.post("jobs", {"task": task, **rest})["id"]
        return number

    found = {
        "receipt": made("send_receipt", args={"order_id": 42}, tags=["vip"]),
        "secret": made("sign_in", args={"user": "anna", "password": "hunter2-hunter2"}),
        "huge": made("echo", args={"value": HUGE}),
        "later": made("send_receipt", args={"order_id": 1}, delay=86_400),
        "long": made("resize_images", args={"album": "winter"}),
    }
    for order in range(3):
        found["declined"] = made("charge_card", args={"order_id": order})
    for name in ("receipt", "secret", "huge", "declined"):
        fleet.get(f"jobs/{found[name]}/wait?timeout=30")
    return found


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def test_each_job_is_there_and_the_tabs_count_them(window: Window, jobs: dict[str, int]) -> None:
    page = window.open("jobs?queue=reports")
    expect(page.get_by_role("link", name=re.compile(r"^Failed\s*3"))).to_be_visible()
    page.get_by_role("link", name="Failed").click()
    expect(row(page, "charge_card")).to_have_count(3)
    expect(row(page, f"#{jobs['declined']}")).to_contain_text("card of order 2 was declined")
    expect(page).to_have_url(re.compile(r"#/jobs\?queue=reports&status=failed$"))
    window.is_accessible("jobs")


def test_the_query_bar_restricts_and_each_restriction_can_be_removed(
    window: Window, jobs: dict[str, int]
) -> None:
    page = window.open("jobs")
    expect(page.get_by_role("combobox", name="Search jobs")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("task:send_receipt tag:vip")
    page.keyboard.press("Enter")
    expect(row(page, "send_receipt")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"#/jobs\?task=send_receipt&tag=vip$"))
    page.reload()
    page.get_by_role("button", name="Remove the tag").click()
    expect(row(page, "send_receipt")).to_have_count(2)
    page.get_by_role("combobox", name="Created").select_option("last 15 minutes")
    expect(page).to_have_url(re.compile(r"&since=15m$"))
    expect(row(page, f"#{jobs['receipt']}")).to_be_visible()
    page.get_by_role("combobox", name="Search jobs").fill(str(jobs["huge"]))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="echo")).to_be_visible()


def test_a_filter_without_jobs_says_so(window: Window, jobs: dict[str, int]) -> None:
    page = window.open("jobs?task=no-such-task")
    expect(page.get_by_text("No job matches")).to_be_visible()
    page.get_by_role("link", name="Show all jobs").click()
    expect(row(page, "inventory/sync").first).to_be_visible()


def test_failures_of_one_cause_are_one_row_with_its_jobs(
    window: Window, jobs: dict[str, int]
) -> None:
    page = window.open("jobs?status=errors&queue=reports")
    group = page.get_by_role("listitem").filter(has_text="ValueError")
    expect(group).to_have_count(1)
    expect(group).to_contain_text("card of order 2 was declined")
    expect(group).to_contain_text("inside/shop.py")
    expect(group.locator(".count")).to_have_text("3")
    group.get_by_role("button", name="ValueError").click()
    window.is_accessible("errors")
    window.picture("errors")
    group.get_by_role("link", name=f"#{jobs['declined']}").click()
    expect(page.get_by_role("heading", name="charge_card")).to_be_visible()


def test_all_that_match_are_counted_first_and_then_retried_with_progress(
    window: Window, fleet: Fleet, jobs: dict[str, int]
) -> None:
    page = window.open("jobs?status=failed&task=charge_card")
    page.get_by_role("button", name="Retry all that match").click()
    dialog = page.get_by_role("dialog", name="Retry all that match?")
    expect(dialog.get_by_text("3 jobs", exact=True)).to_be_visible()
    retry = dialog.get_by_role("button", name="Retry 3 jobs")
    expect(retry).to_be_disabled()
    dialog.get_by_label("Reason").fill("the bank answers again")
    window.is_accessible("the dialog of an operation")
    window.picture("bulk")
    retry.click()
    expect(page.get_by_text("3 of 3 queued again")).to_be_visible()
    assert "operation=" in page.url
    assert fleet.get(f"jobs/{jobs['declined']}/wait?timeout=30")["status"] == "failed"
    page.get_by_role("button", name="Hide the operation").click()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    (entry, *_) = fleet.get("audit?action=jobs.retry")
    assert entry["reason"] == "the bank answers again"


def test_all_that_match_are_cancelled(window: Window, fleet: Fleet) -> None:
    for order in range(4):
        fleet.post(
            "jobs",
            {
                "task": "send_receipt",
                "args": {"order_id": order},
                "delay": 9_000,
                "tags": ["recalled"],
            },
        )
    page = window.open("jobs?status=pending&tag=recalled")
    expect(row(page, "send_receipt")).to_have_count(4)
    page.get_by_role("button", name="Cancel all that match").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("the order was recalled")
    dialog.get_by_role("button", name="Cancel 4 jobs").click()
    expect(page.get_by_text("4 of 4 cancelled")).to_be_visible()
    expect(page.get_by_text("No job matches")).to_be_visible()
    assert len(fleet.get("jobs?status=cancelled&tag=recalled")) == 4


def test_a_running_job_shows_its_progress_and_is_cancelled_with_a_reason(
    window: Window, fleet: Fleet, jobs: dict[str, int]
) -> None:
    page = window.open(f"jobs/{jobs['long']}")
    expect(page.get_by_text(re.compile(r"image \d+ of winter"))).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_attribute("max", "100")
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel the job")).to_be_disabled()
    dialog.get_by_label("Reason").fill("wrong album")
    dialog.get_by_role("button", name="Cancel the job").click()
    expect(page.get_by_role("main").get_by_text("cancelled").first).to_be_visible()
    expect(page.get_by_text("wrong album")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)


def test_a_failed_job_shows_its_traceback_and_its_attempts_and_is_retried(
    window: Window, fleet: Fleet, jobs: dict[str, int]
) -> None:
    number = jobs["declined"]
    page = window.open(f"jobs/{number}")
    trace = page.get_by_role("group", name="Traceback")
    expect(trace).to_contain_text("ValueError: card of order 2 was declined")
    expect(trace).to_contain_text('raise ValueError(f"card of order {order_id} was declined")')
    attempts = page.get_by_role("table", name="Attempts")
    expect(attempts.get_by_role("img", name="ran").first).to_be_visible()
    window.is_accessible("a job")
    window.picture("job")
    before = fleet.get(f"jobs/{number}/attempts")
    page.get_by_role("button", name="Retry").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    expect(page.get_by_text(f"Job {number} is queued again")).to_be_visible()
    expect(attempts.get_by_role("row")).to_have_count(len(before) + 2)


def test_integers_are_exact_in_arguments_and_result_and_secrets_are_not_shown(
    window: Window, jobs: dict[str, int]
) -> None:
    page = window.open(f"jobs/{jobs['huge']}")
    expect(page.get_by_role("region", name="Arguments")).to_contain_text(str(HUGE))
    expect(page.get_by_role("region", name="Result")).to_contain_text(str(HUGE))
    page = window.open(f"jobs/{jobs['secret']}")
    expect(page.get_by_text("secrets redacted")).to_be_visible()
    assert "hunter2" not in page.content()


def test_a_job_is_copied_as_a_request_as_code_and_as_a_command(
    window: Window, jobs: dict[str, int]
) -> None:
    page = window.open(f"jobs/{jobs['huge']}")
    again = page.get_by_role("region", name="Submit it again")
    expect(again).to_contain_text(f'"args": {{"value": {HUGE}}}')
    again.get_by_role("button", name="Python").click()
    expect(again).to_contain_text(f'kwargs={{"value": {HUGE}}}')
    again.get_by_role("button", name="CLI").click()
    expect(again).to_contain_text("drumbeat job submit echo --json")
    expect(page).to_have_url(re.compile(r"\?copy=cli$"))


def test_a_clone_keeps_every_digit_and_waits_for_secrets(
    window: Window, fleet: Fleet, jobs: dict[str, int]
) -> None:
    page = window.open(f"jobs/{jobs['huge']}")
    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog", name="Clone job")
    window.is_accessible("a clone")
    dialog.get_by_role("button", name="Make the job").click()
    expect(page.get_by_text("is made")).to_be_visible()
    number = page.url.rpartition("/")[2]
    assert int(number) != jobs["huge"]
    assert fleet.get(f"jobs/{number}")["arguments"] == {"value": HUGE}
    page = window.open(f"jobs/{jobs['secret']}")
    page.get_by_role("button", name="Clone").click()
    make = dialog.get_by_role("button", name="Make the job")
    expect(make).to_be_disabled()
    field = dialog.get_by_label("Arguments")
    field.fill('{"user": "anna", "password": "')
    expect(dialog.get_by_text("This is no JSON")).to_be_visible()
    field.fill('{"user": "anna", "password": "swordfish-swordfish"}')
    expect(make).to_be_enabled()


def test_a_job_of_a_schedule_leads_to_its_tick(window: Window, fleet: Fleet) -> None:
    job = fleet.post("schedules/cache%2Fwarm/trigger")
    page = window.open(f"jobs/{job['id']}")
    link = page.get_by_role("region", name="Details").get_by_role("link", name="cache/warm").last
    expect(link).to_have_attribute("href", "#/schedules/cache%2Fwarm")
    ticked = fleet.get("jobs?schedule=inventory/sync&limit=1")[0]
    page = window.open(f"jobs/{ticked['id']}")
    expect(page.locator('a[href*="tab=ticks&tick="]')).to_be_visible()


def test_a_job_that_is_not_there_says_so(window: Window) -> None:
    window.expected = ("404",)
    page = window.open("jobs/999999999")
    expect(page.get_by_text("There is no job 999999999")).to_be_visible()


def test_a_phone_shows_the_list_and_a_job_without_scrolling_sideways(
    open_window: Callable[..., Window], fleet: Fleet, jobs: dict[str, int]
) -> None:
    window = open_window(fleet.url, phone=True)
    places = {
        "jobs": "jobs?queue=reports",
        "job": f"jobs/{jobs['declined']}",
        "errors": "jobs?status=errors",
    }
    for name, place in places.items():
        page = window.open(place)
        expect(page.get_by_text("charge_card").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.is_accessible(place)
        if name == "errors":
            expect(page.get_by_role("link", name="Errors")).to_be_in_viewport(ratio=0.95)
        window.picture(f"phone-{name}")


def test_on_a_phone_each_heading_is_above_its_column_and_nothing_is_cut(
    open_window: Callable[..., Window], fleet: Fleet, jobs: dict[str, int]
) -> None:
    page = open_window(fleet.url, phone=True).open("jobs?queue=reports")
    table = page.get_by_role("table", name="Jobs")
    expect(table.get_by_role("button", name="Changes of job").first).to_be_in_viewport(ratio=1)
    assert table.evaluate("table => table.scrollWidth - table.parentElement.clientWidth") <= 0
    headings, cells = table.evaluate(LEFT_EDGES)
    assert len(headings) == 4
    assert headings == pytest.approx(cells, abs=1)


def test_a_long_list_has_only_the_rows_that_are_seen(window: Window, fleet: Fleet) -> None:
    for _ in range(2):
        many = [{"task": "echo", "delay": 90_000, "tags": ["many"]} for _ in range(300)]
        fleet.post("jobs/batch", {"jobs": many})
    page = window.open("jobs?tag=many")
    table = page.get_by_role("table", name="Jobs")
    expect(table).to_have_attribute("aria-rowcount", "101")
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 100_000)
    expect(table).not_to_have_attribute("aria-rowcount", "101")
    assert table.get_by_role("row").count() < 80
