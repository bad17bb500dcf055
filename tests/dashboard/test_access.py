"""Login, what each scope sees, a read-only server, and the store going away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from servers import Postgres
from tests.conftest import shared
from tests.dashboard.browser import Window
from tests.dashboard.processes import Fleet, fleet_of

ADMIN = "the-first-token-of-all-0123456789"
REFUSED = ("401", "403")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet that asks for a token."""
    with fleet_of(tmp_path_factory.mktemp("guarded"), DRUMBEAT_API_TOKEN=ADMIN) as made:
        made.start("web-1", "api,scheduler,worker")
        yield made


def token(guarded: Fleet, scope: str) -> str:
    body = {"name": f"a {scope} {len(guarded.get('tokens', ADMIN))}", "scope": scope}
    return str(guarded.post("tokens", body, ADMIN)["token"])


def log_in(window: Window, secret: str) -> None:
    window.page.get_by_label("Token").fill(secret)
    window.page.get_by_role("button", name="Log in").click()


def test_a_wrong_token_is_refused_in_words(
    open_window: Callable[..., Window], guarded: Fleet
) -> None:
    window = open_window(guarded.url)
    window.expected = REFUSED
    page = window.open("schedules")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    window.is_accessible("login")
    window.picture("login")
    log_in(window, "no-such-token")
    expect(page.get_by_role("alert")).to_contain_text("the token is not known")


@pytest.mark.parametrize(
    ("scope", "operates"), [("viewer", False), ("submitter", False), ("operator", True)]
)
def test_a_scope_sees_only_buttons_that_it_may_use(
    open_window: Callable[..., Window], guarded: Fleet, scope: str, *, operates: bool
) -> None:
    window = open_window(guarded.url)
    window.expected = REFUSED
    page = window.open("schedules")
    log_in(window, token(guarded, scope))
    expect(page.get_by_role("row").filter(has_text="cache/warm")).to_be_visible()
    expect(page.get_by_text(f"{scope} ·")).to_be_visible()
    assert (page.get_by_role("checkbox").count() > 0) is operates
    page.get_by_role("link", name="cache/warm").first.click()
    expect(page.get_by_role("region", name="Policies")).to_be_visible()
    for button in ("Trigger", "Pause", "Skip"):
        assert (page.get_by_role("button", name=button).count() > 0) is operates
    assert (page.get_by_role("link", name="Edit").count() > 0) is operates


def test_a_session_outlives_a_reload_and_ends_with_a_logout(
    open_window: Callable[..., Window], guarded: Fleet
) -> None:
    window = open_window(guarded.url)
    window.expected = REFUSED
    page = window.open()
    log_in(window, ADMIN)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.evaluate("JSON.stringify([localStorage, document.cookie])").count(ADMIN) == 0
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_read_only_server_says_so_and_takes_the_token_for_this_page_only(
    open_window: Callable[..., Window], tmp_path: Path
) -> None:
    settings = {"DRUMBEAT_API_TOKEN": ADMIN, "DRUMBEAT_READ_ONLY": "true"}
    with fleet_of(tmp_path, **settings) as fleet:
        fleet.start("web-1", "api,scheduler,worker")
        window = open_window(fleet.url)
        window.expected = REFUSED
        page = window.open("schedules")
        log_in(window, ADMIN)
        expect(page.get_by_text("This server is read-only.")).to_be_visible()
        expect(page.get_by_text("admin · live")).to_be_visible()
        assert page.get_by_role("checkbox").count() == 0
        page.reload()
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        page.context.close()


@pytest.fixture
def own_postgres(pytestconfig: pytest.Config) -> Iterator[Postgres]:
    with shared(pytestconfig, Postgres.start) as server:
        yield server


def test_a_store_that_goes_away_and_comes_back_is_told_while_the_page_stays(
    open_window: Callable[..., Window], own_postgres: Postgres, tmp_path: Path
) -> None:
    with fleet_of(tmp_path, own_postgres.address) as fleet:
        fleet.start("web-1", "api,scheduler,worker")
        window = open_window(fleet.url)
        window.expected = ("503",)
        page = window.open("schedules")
        row = page.get_by_role("row").filter(has_text="cache/warm")
        expect(row).to_be_visible()
        own_postgres.stop()
        expect(page.get_by_role("alert")).to_contain_text("The store does not answer.")
        expect(row).to_be_visible()
        own_postgres.start_again()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(row).to_contain_text("ok")
        page.context.close()
