"""A browser logs in with a token, and stays logged in by a cookie that only it has."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.application import Api
from drumbeat.api.table import TABLE
from drumbeat.model.fleet.token import Scope
from drumbeat.testing import inside

from .caller import Answer, Caller, House, house

OURS = {"sec_fetch_site": "same-origin"}


def cookie(answer: Answer) -> str:
    return answer.headers["set-cookie"].partition(";")[0]


async def logged_in(ours: House, token: str) -> str:
    answer = await ours.caller()("POST", "/login", {"token": token}, **OURS)
    assert answer.status == 200, answer.body
    return cookie(answer)


async def test_a_session_has_the_scope_of_its_token() -> None:
    ours = house()
    said = await logged_in(ours, await ours.token(Scope.OPERATOR, "anna"))
    answer = await ours.caller()("GET", "/whoami", cookie=said)
    assert (answer.data["name"], answer.data["scope"]) == ("anna", "operator")


async def test_the_cookie_is_kept_from_scripts_and_other_sites() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    answer = await ours.caller()("POST", "/login", {"token": "let-me-in-with-this-one"})
    attributes = answer.headers["set-cookie"].split("; ")[1:]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert "Secure" not in attributes
    assert "let-me-in-with-this-one" not in answer.headers["set-cookie"]
    secure = await ours.caller(scheme="https")(
        "POST", "/login", {"token": "let-me-in-with-this-one"}
    )
    assert "Secure" in secure.headers["set-cookie"]


async def test_a_wrong_token_opens_no_session() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    answers = [await ours.caller()("POST", "/login", {"token": "guess"}) for _ in range(11)]
    assert [each.status for each in answers] == [401] * 10 + [429]
    assert all("set-cookie" not in each.headers for each in answers)


async def test_a_page_of_others_cannot_log_somebody_in() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    answer = await ours.caller()(
        "POST", "/login", {"token": "let-me-in-with-this-one"}, origin="http://evil.example"
    )
    assert (answer.status, answer.kind) == (403, "foreign-origin")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:8080"}, 201),
        (OURS, 201),
    ],
)
async def test_a_change_by_cookie_has_to_come_from_a_page_of_ours(
    headers: dict[str, str], status: int
) -> None:
    ours = house(api_token="let-me-in-with-this-one")
    said = await logged_in(ours, "let-me-in-with-this-one")
    answer = await ours.caller()("POST", "/jobs", {"task": "greet"}, cookie=said, **headers)
    assert answer.status == status


async def test_a_session_holds_on_every_node() -> None:
    ours = house()
    said = await logged_in(ours, await ours.token(Scope.VIEWER))
    fleet = inside.measured_fleet(ours.app)
    other = Caller(Api(fleet, AccessControl(fleet), TABLE))
    assert (await other("GET", "/whoami", cookie=said)).status == 200


async def test_logging_out_ends_the_session_for_good() -> None:
    ours = house()
    said = await logged_in(ours, await ours.token(Scope.VIEWER))
    answer = await ours.caller()("POST", "/logout", cookie=said, **OURS)
    assert answer.status == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert (await ours.caller()("GET", "/whoami", cookie=said)).status == 401


async def test_a_session_ends_with_its_token() -> None:
    ours = house()
    said = await logged_in(ours, await ours.token(Scope.ADMIN, "anna"))
    await ours.app.store.tokens.revoke("anna")
    await ours.clock.advance("5s")
    assert (await ours.caller()("GET", "/whoami", cookie=said)).status == 401


async def test_a_session_ends_after_its_time() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    said = await logged_in(ours, "let-me-in-with-this-one")
    await ours.clock.advance("12h")
    assert (await ours.caller()("GET", "/whoami", cookie=said)).status == 401


async def test_a_session_does_not_outlive_its_token() -> None:
    ours = house()
    ends = ours.clock.now() + timedelta(minutes=1)
    await logged_in(ours, await ours.token(Scope.VIEWER, "short", expires_at=ends))
    sessions = [each for each in await ours.app.store.tokens.list() if each.name != "short"]
    assert [each.expires_at for each in sessions] == [ends]


async def test_a_session_is_no_token() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    said = await logged_in(ours, "let-me-in-with-this-one")
    value = said.partition("=")[2]
    assert (await ours.caller(value)("GET", "/whoami")).status == 401
    assert (await ours.caller()("POST", "/login", {"token": value})).status == 401


@pytest.mark.parametrize("change", ["", "x", "x.y", "drum_x.", ".", "é", "a" * 5_000])
async def test_a_cookie_that_was_changed_opens_nothing(change: str) -> None:
    ours = house(api_token="let-me-in-with-this-one")
    await logged_in(ours, "let-me-in-with-this-one")
    answer = await ours.caller()("GET", "/whoami", cookie=f"drumbeat_session={change}")
    assert answer.status == 401


async def test_the_token_of_a_session_cannot_be_exchanged() -> None:
    ours = house()
    low = await logged_in(ours, await ours.token(Scope.VIEWER))
    high = await logged_in(ours, await ours.token(Scope.ADMIN))
    mixed = low.rpartition(".")[0] + "." + high.rpartition(".")[2]
    assert (await ours.caller()("GET", "/whoami", cookie=mixed)).status == 401


async def test_sessions_are_not_listed_among_the_tokens_unless_asked_for() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    await logged_in(ours, "let-me-in-with-this-one")
    admin = ours.caller("let-me-in-with-this-one")
    assert (await admin("GET", "/tokens")).data == []
    assert len((await admin("GET", "/tokens?sessions=true")).data) == 1


async def audited(ours: House) -> list[tuple[str, str, str]]:
    answer = await ours.caller("let-me-in-with-this-one")("GET", "/audit")
    return [(each["actor"], each["action"], each["outcome"]) for each in answer.data]


async def test_logins_and_logouts_are_in_the_audit_log() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    said = await logged_in(ours, await ours.token(Scope.VIEWER, "anna"))
    await ours.caller()("POST", "/logout", cookie=said, **OURS)
    assert await audited(ours) == [
        ("anna", "session.end", "done"),
        ("anna", "session.open", "done"),
    ]
    await ours.caller()("POST", "/login", {"token": "guess"}, **OURS)
    assert len(await audited(ours)) == 2


async def test_a_server_that_changes_nothing_opens_no_session() -> None:
    ours = house(read_only=True, api_token="let-me-in-with-this-one")
    answer = await ours.caller()("POST", "/login", {"token": "let-me-in-with-this-one"}, **OURS)
    assert (answer.status, answer.kind) == (403, "read-only")
    assert list(await ours.app.store.tokens.list()) == []


async def test_sessions_that_are_over_are_forgotten_by_a_later_login() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    for _ in range(3):
        await logged_in(ours, "let-me-in-with-this-one")
    await ours.clock.advance("2d")
    await logged_in(ours, "let-me-in-with-this-one")
    assert len(await ours.app.store.tokens.list()) == 1


@pytest.mark.parametrize("name", ["session 0123456789ab of anna", "Session x", "session "])
async def test_no_token_can_be_named_like_a_session(name: str) -> None:
    answer = await house().caller()("POST", "/tokens", {"name": name, "scope": "viewer"})
    assert (answer.status, answer.data["field"]) == (422, "name")
