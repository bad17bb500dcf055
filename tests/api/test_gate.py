"""The gate is closed by default, and every way through it is a way that somebody chose."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.route import AnyRoute
from drumbeat.api.table import TABLE
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.fleet.token import Scope
from drumbeat.testing import inside

from .caller import House, asked, house

OPEN = {"/health", "/livez", "/readyz", "/startupz", "/login", "/logout"}
SCOPES = list(Scope)


def named(route: AnyRoute) -> str:
    return f"{route.method} {route.path}"


def filled(route: AnyRoute) -> str:
    """The path of a route, with something in its open segments."""
    return route.path.replace("{", "").replace("}", "")


def test_only_probes_and_the_login_are_open() -> None:
    assert {route.path for route in TABLE if route.scope is None} == OPEN


@pytest.mark.parametrize("route", TABLE, ids=named)
async def test_no_route_passes_without_a_token(route: AnyRoute) -> None:
    ours = house()
    await ours.token(Scope.ADMIN)
    answer = await ours.caller()(route.method, filled(route), {} if route.body else None)
    if route.scope is None:
        assert answer.status != 403
        assert b"details" not in answer.body
    else:
        assert (answer.status, answer.kind) == (401, "token-missing")
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("route", [each for each in TABLE if each.scope], ids=named)
async def test_no_route_passes_with_a_token_nobody_knows(route: AnyRoute) -> None:
    ours = house()
    await ours.token(Scope.ADMIN)
    answer = await ours.caller("drum_guessed")(route.method, filled(route))
    assert (answer.status, answer.kind) == (401, "token-refused")


@pytest.mark.parametrize(
    "route", [each for each in TABLE if each.scope not in (None, Scope.VIEWER)], ids=named
)
async def test_no_route_passes_with_too_low_a_scope(route: AnyRoute) -> None:
    assert route.scope is not None
    ours = house()
    below = SCOPES[SCOPES.index(route.scope) - 1]
    token = await ours.token(below)
    answer = await ours.caller(token)(route.method, filled(route), {} if route.body else None)
    assert (answer.status, answer.kind) == (403, "scope-too-low")
    assert f"needs the scope {route.scope}" in answer.data["detail"]


@pytest.mark.parametrize("route", [each for each in TABLE if each.scope], ids=named)
async def test_the_scope_that_the_table_names_is_enough(route: AnyRoute) -> None:
    assert route.scope is not None
    gate = AccessControl(inside.measured_fleet((ours := house()).app))
    token = await ours.token(route.scope)
    headers = {b"authorization": f"Bearer {token}".encode(), b"host": b"localhost"}
    caller = await gate.admit(route, {"client": ("10.0.0.1", 1)}, headers)
    assert caller.scope is route.scope


async def test_without_any_token_whoever_is_on_this_machine_may_do_everything() -> None:
    answer = await house().caller()("GET", "/whoami")
    assert answer.data["scope"] == "admin"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "[::1]:8080", "x.localhost:1"])
async def test_this_machine_is_known_by_its_names(host: str) -> None:
    assert (await house().caller()("GET", "/whoami", host=host)).status == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8080", "10.0.0.1", ""])
async def test_a_name_that_was_bent_to_this_machine_is_refused(host: str) -> None:
    answer = await house().caller()("GET", "/jobs", host=host)
    assert (answer.status, answer.kind) == (403, "foreign-host")


async def test_what_a_proxy_passed_on_did_not_come_from_this_machine() -> None:
    answer = await house().caller()("GET", "/jobs", x_forwarded_for="203.0.113.9")
    assert (answer.status, answer.kind) == (401, "token-missing")


async def test_the_first_token_closes_the_door_of_the_node_that_made_it_at_once() -> None:
    ask = house().caller()
    assert (await ask("GET", "/jobs")).status == 200
    made = await ask("POST", "/tokens", {"name": "first", "scope": "viewer"})
    assert made.status == 201
    answer = await ask("GET", "/jobs")
    assert (answer.status, answer.kind) == (401, "token-missing")
    authorization = f"Bearer {made.data['token']}"
    assert (await ask("GET", "/jobs", authorization=authorization)).status == 200


async def test_a_door_that_others_reach_is_never_open() -> None:
    answer = await house(local=False).caller()("GET", "/jobs")
    assert (answer.status, answer.kind) == (401, "token-missing")


async def test_the_first_token_closes_the_door_within_its_time() -> None:
    ours = house()
    caller = ours.caller()
    assert (await caller("GET", "/jobs")).status == 200
    await ours.token(Scope.VIEWER)
    await ours.clock.advance("5s")
    assert (await caller("GET", "/jobs")).status == 401


async def test_a_token_that_is_over_does_not_open_the_door_again() -> None:
    ours = house()
    await ours.token(Scope.ADMIN, "the only one")
    await ours.app.store.tokens.revoke("the only one")
    assert (await ours.caller()("GET", "/jobs")).status == 401


async def test_a_revocation_counts_within_its_time() -> None:
    ours = house()
    token = await ours.token(Scope.VIEWER, "gone soon")
    caller = ours.caller(token)
    assert (await caller("GET", "/jobs")).status == 200
    await ours.app.store.tokens.revoke("gone soon")
    assert (await caller("GET", "/jobs")).status == 200  # it was believed a moment ago
    await ours.clock.advance("5s")
    answer = await caller("GET", "/jobs")
    assert answer.status == 401
    assert answer.data["detail"] == "the token 'gone soon' was revoked"


async def test_a_token_ends_at_its_time_although_it_is_remembered() -> None:
    ours = house()
    ends = ours.clock.now() + timedelta(seconds=2)
    token = await ours.token(Scope.VIEWER, "short", expires_at=ends)
    assert (await ours.caller(token)("GET", "/jobs")).status == 200
    await ours.clock.advance("2s")
    answer = await ours.caller(token)("GET", "/jobs")
    assert answer.data["detail"] == "the token 'short' has expired"


async def test_a_token_is_looked_up_once_in_a_while() -> None:
    ours = house()
    token = await ours.token(Scope.VIEWER)
    looks: list[str] = []
    find = ours.app.store.tokens.find

    async def counted(digest: str) -> object:
        looks.append(digest)
        return await find(digest)

    ours.app.store.tokens.find = counted  # type: ignore[method-assign, assignment]
    for _ in range(20):
        await ours.caller(token)("GET", "/whoami")
    assert len(looks) == 1


async def test_the_use_of_a_token_is_noted_now_and_then() -> None:
    ours = house()
    token = await ours.token(Scope.VIEWER)
    await ours.caller(token)("GET", "/whoami")
    assert [each.last_used_at for each in await ours.app.store.tokens.list()] == [None]
    await ours.clock.advance("30s")
    await ours.caller(token)("GET", "/whoami")
    assert [each.last_used_at for each in await ours.app.store.tokens.list()] == [ours.clock.now()]


async def test_the_token_of_the_settings_may_do_everything() -> None:
    ours = house(api_token="let-me-in-with-this-one", local=False)
    assert (await ours.caller("let-me-in-with-this-one")("GET", "/whoami")).data["scope"] == "admin"
    assert (await ours.caller("let me out")("GET", "/whoami")).status == 401
    assert (await ours.caller()("GET", "/whoami")).status == 401


@pytest.mark.parametrize("said", ["Basic eDp5", "Bearer", "Bearer  ", "drum_x", ""])
async def test_a_header_that_holds_no_token_is_refused(said: str) -> None:
    ours = house(api_token="let-me-in-with-this-one")
    answer = await ours.caller()("GET", "/jobs", authorization=said)
    assert (answer.status, answer.kind) == (401, "token-missing")


async def test_failed_attempts_of_an_address_are_bounded() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    guesses = [(await ours.caller("guess")("GET", "/jobs")).status for _ in range(12)]
    assert guesses == [401] * 10 + [429] * 2
    assert (await ours.caller("guess", address="10.0.0.9")("GET", "/jobs")).status == 401
    assert (await ours.caller("let-me-in-with-this-one")("GET", "/jobs")).status == 200
    await ours.clock.advance("1s")
    assert (await ours.caller("guess")("GET", "/jobs")).status == 401


async def test_insecure_lets_everybody_do_everything() -> None:
    ours = house(insecure=True, api_token="let-me-in-with-this-one", local=False)
    assert (await ours.caller(address="203.0.113.9")("GET", "/whoami")).data["scope"] == "admin"


async def test_a_server_that_is_read_only_changes_nothing_whoever_asks() -> None:
    ours = house(read_only=True, api_token="let-me-in-with-this-one")
    caller = ours.caller("let-me-in-with-this-one")
    for route in TABLE:
        if route.changes:
            answer = await caller(route.method, filled(route), {} if route.body else None)
            assert (answer.status, answer.kind) == (403, "read-only"), named(route)
    assert (await caller("GET", "/jobs")).status == 200


async def test_the_word_of_a_stranger_on_who_they_are_counts_for_nothing() -> None:
    ours = house(trusted_proxies=("10.0.0.0/8",), local=False)
    stranger = ours.caller(address="203.0.113.9")
    assert (await stranger("GET", "/whoami", x_forwarded_user="anna")).status == 401
    proxy = ours.caller(address="10.1.2.3")
    assert (await proxy("GET", "/whoami", x_forwarded_user="anna")).data == {
        "name": "anna",
        "scope": "viewer",
        "read_only": False,
    }
    assert (await proxy("GET", "/whoami")).status == 401


async def test_where_a_proxy_is_trusted_this_machine_is_not() -> None:
    ours = house(trusted_proxies=("127.0.0.1",))
    answer = await ours.caller()("GET", "/whoami")  # whom the proxy could not name
    assert (answer.status, answer.kind) == (401, "token-missing")
    named = await ours.caller()("GET", "/whoami", x_forwarded_user="anna")
    assert named.data["scope"] == "viewer"


async def test_behind_a_proxy_the_token_says_how_far_and_the_proxy_says_who() -> None:
    ours = house(trusted_proxies=("10.0.0.7",), local=False)
    token = await ours.token(Scope.OPERATOR, "sso")
    proxy = ours.caller(token, address="10.0.0.7")
    answer = await proxy("GET", "/whoami", x_forwarded_user="anna", x_drumbeat_scope="admin")
    assert (answer.data["name"], answer.data["scope"]) == ("anna (sso)", "operator")


async def test_attempts_behind_a_proxy_are_counted_by_whoever_is_behind_it() -> None:
    ours = house(trusted_proxies=("10.0.0.7",), api_token="let-me-in-with-this-one")
    proxy = ours.caller("guess", address="10.0.0.7")
    answers = [
        await proxy("GET", "/jobs", x_forwarded_for=f"1.1.1.{made_up}, 203.0.113.9")
        for made_up in range(11)
    ]
    assert answers[-1].status == 429
    other = await proxy("GET", "/jobs", x_forwarded_for="203.0.113.9, 203.0.113.10")
    assert other.status == 401


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, True),
        ({"origin": "http://localhost:8080"}, True),
        ({"sec_fetch_site": "same-origin"}, True),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://localhost:8081"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://[evil"}, False),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "cross-site", "origin": "http://localhost:8080"}, False),
    ],
)
async def test_a_page_of_others_cannot_change_what_runs_on_this_machine(
    headers: dict[str, str], passes: bool
) -> None:
    answer = await house().caller()("POST", "/jobs", {"task": "greet"}, **headers)
    assert answer.status == (201 if passes else 403)
    if not passes:
        assert answer.kind == "foreign-origin"


PAGES = {"origin": "http://evil.example"}
POSTS = [route for route in TABLE if route.method not in ("GET", "HEAD")]


@pytest.mark.parametrize("route", POSTS, ids=named)
async def test_no_page_of_others_reaches_a_route_that_is_more_than_a_look(route: AnyRoute) -> None:
    ask = house().caller()  # whoever is on this machine may do everything, without a token
    body = {"token": "x"} if route.path == "/login" else {} if route.body else None
    answer = await ask(route.method, filled(route), body, **PAGES)
    assert (answer.status, answer.kind) == (403, "foreign-origin")


@pytest.mark.parametrize("route", POSTS, ids=named)
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "x"])
async def test_only_json_is_taken_and_no_form_of_a_page(route: AnyRoute, kind: str) -> None:
    answer = await house().caller()(route.method, filled(route), {}, content_type=kind)
    assert (answer.status, answer.kind) == (415, "not-json")
    assert answer.data["field"] == "content-type"


async def test_a_body_has_to_say_that_it_is_json() -> None:
    ours = house()
    ask = ours.caller()
    connection = {
        "type": "http",
        "method": "POST",
        "path": "/cron/preview",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 50_000),
        "scheme": "http",
    }
    answer = await asked(ours.api, connection, b'{"when": "* * * * *"}')
    assert (answer.status, answer.kind) == (415, "not-json")
    assert (await ask("POST", "/queues/default/pause")).status == 200  # it has no body


async def test_failures_of_others_at_one_address_do_not_keep_a_valid_token_out() -> None:
    ours = house()
    viewer = ours.caller(await ours.token(Scope.VIEWER))
    guesses = [(await ours.caller("guess")("GET", "/jobs")).status for _ in range(12)]
    assert guesses[-1] == 429
    assert (await viewer("GET", "/jobs")).status == 200


@pytest.mark.parametrize(
    ("settings", "local", "fault"),
    [
        ({}, False, "there is no token: make one with `drumbeat token create`, set"),
        ({}, True, None),
        ({"insecure": True}, False, None),
        ({"api_token": "let-me-in-with-this-one"}, False, None),
        ({"trusted_proxies": ("10.0.0.7",)}, False, None),
    ],
)
async def test_a_door_to_the_world_needs_somebody_to_guard_it(
    settings: dict[str, Any], local: bool, fault: str | None
) -> None:
    ours = house(local=local, **settings)
    if fault is None:
        await ours.api.access.check(":8080")
    else:
        with pytest.raises(ConfigurationError, match=fault):
            await ours.api.access.check(":8080")


async def test_a_token_that_is_over_guards_no_door() -> None:
    ours = house(local=False)
    await ours.token(Scope.ADMIN, "old")
    await ours.api.access.check(":8080")
    await ours.app.store.tokens.revoke("old")
    with pytest.raises(ConfigurationError):
        await ours.api.access.check(":8080")


def test_an_address_of_a_proxy_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"trusted_proxies must be addresses such as"):
        house(trusted_proxies=("proxy.example",))


async def test_details_of_a_probe_need_a_token(ours: House) -> None:
    plain = await ours.caller()("GET", "/health")
    assert "registered_tasks" not in plain.data
    assert (await ours.caller()("GET", "/readyz?verbose")).status == 401
    told = await ours.caller("let-me-in-with-this-one")("GET", "/health")
    assert told.data["registered_tasks"] == ["greet"]
    verbose = await ours.caller("let-me-in-with-this-one")("GET", "/readyz?verbose")
    assert verbose.data["checks"]["store"] == "ok"


@pytest.fixture
def ours() -> House:
    return house(api_token="let-me-in-with-this-one")
