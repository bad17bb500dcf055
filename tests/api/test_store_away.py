"""While the store is away, a node still tells how it is to whoever was let in before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from drumbeat.api.access.token_cache import REMEMBERED
from drumbeat.api.http.application import Api
from drumbeat.api.table import TABLE
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.fleet.local.phase import Phase
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.token import Scope
from drumbeat.testing import inside

from .caller import Caller, House, house

TEXT = {"accept": "text/plain"}


async def refusing(*_: object) -> Any:
    raise Unavailable("the store is away")


async def silent(*_: object) -> Any:
    await asyncio.Event().wait()


@pytest.fixture(params=[refusing, silent], ids=["refuses", "is silent"])
def lose(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[House], None]:
    """Takes the store of a house away."""

    def away(ours: House) -> None:
        store = ours.app.store
        for part, name in (
            (store, "now"),
            (store.tokens, "find"),
            (store.tokens, "list"),
            (store.queues, "list"),
            (store.jobs, "list"),
        ):
            monkeypatch.setattr(part, name, request.param)

    return away


async def patiently(ours: House, ask: Caller, path: str, **headers: str) -> Any:
    """The answer, with as much time as the node gives a silent store."""
    asking = asyncio.create_task(ask("GET", path, **headers))
    for _ in range(5):
        await ours.clock.advance("1s")
        if asking.done():
            break
    return await asyncio.wait_for(asking, 60.0)


async def test_whoever_scraped_before_hears_that_the_store_is_away(
    lose: Callable[[House], None],
) -> None:
    ours = house()
    ask = ours.caller(await ours.token(Scope.VIEWER))
    assert b"drumbeat_store_up 1.0" in (await ask("GET", "/metrics", **TEXT)).body
    lose(ours)
    await ours.clock.advance("1h")
    answer = await patiently(ours, ask, "/metrics", **TEXT)
    assert answer.status == 200
    assert b"drumbeat_store_up 0.0" in answer.body


async def test_so_does_whoever_is_on_this_machine(lose: Callable[[House], None]) -> None:
    ours = house()
    ask = ours.caller()
    assert (await ask("GET", "/metrics", **TEXT)).status == 200
    lose(ours)
    await ours.clock.advance("1m")
    assert (await patiently(ours, ask, "/metrics", **TEXT)).status == 200
    assert (await patiently(ours, ask, "/metrics", host="evil.example", **TEXT)).status == 403


async def test_details_of_the_probes_are_told_too(lose: Callable[[House], None]) -> None:
    ours = house()
    ask = ours.caller(await ours.token(Scope.VIEWER))
    assert (await ask("GET", "/readyz?verbose")).status == 503  # it has not been started
    lose(ours)
    await ours.clock.advance("1m")
    answer = await patiently(ours, ask, "/readyz?verbose")
    parts = {"node", "store", "coordinator", "queue"}
    assert (answer.status, set(answer.data["checks"])) == (503, parts)
    told = await patiently(ours, ask, "/health")
    assert told.data["registered_tasks"] == ["greet"]


async def test_probes_turn_and_say_why_only_to_those_who_may_look() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    services = inside.measured_fleet(ours.app).services
    parts = {name: getattr(services.store, name) for name in ("queues", "nodes", "tokens", "audit")}
    store: Any = SimpleNamespace(now=refusing, **parts)
    running = replace(services, phase=lambda: Phase.RUNNING, store=store)
    ours.api = Api(LocalFleet(running), ours.api.access, TABLE)
    anybody, viewer = ours.caller(), ours.caller("let-me-in-with-this-one")
    ready = await anybody("GET", "/readyz")
    assert (ready.status, ready.data) == (503, {"status": "store-unavailable"})
    verbose = await viewer("GET", "/readyz?verbose")
    assert (verbose.status, verbose.data["checks"]["store"]) == (503, "the store is away")
    said = [await ask("GET", "/health") for ask in (anybody, viewer)]
    assert [answer.status for answer in said] == [503, 503]
    assert [answer.data["reason"] for answer in said] == [
        "the store does not answer",
        "the store does not answer: the store is away",
    ]
    assert (await anybody("GET", "/livez")).status == 200


async def test_the_address_of_the_store_is_told_to_nobody_who_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(*_: object) -> Any:
        raise Unavailable("PostgreSQL at db.internal:5432/shop is not available")

    ours = house()
    for name in ("find", "list"):
        monkeypatch.setattr(ours.app.store.tokens, name, away)
    for caller in (ours.caller(), ours.caller("drum_guessed")):
        for method, path, body in (
            ("GET", "/jobs", None),
            ("GET", "/readyz?verbose", None),
            ("GET", "/health", None),
            ("POST", "/login", {"token": "drum_guessed"}),
        ):
            answer = await caller(method, path, body)
            assert b"db.internal" not in answer.body, path


async def test_who_was_never_let_in_is_not_let_in_now(lose: Callable[[House], None]) -> None:
    ours = house()
    token = await ours.token(Scope.ADMIN)
    lose(ours)
    answer = await patiently(ours, ours.caller(token), "/metrics", **TEXT)
    assert (answer.status, answer.kind) == (503, "store-unavailable")
    assert "the token cannot be checked" in answer.data["detail"]


async def test_whoever_was_seen_to_be_over_is_not_remembered(
    lose: Callable[[House], None],
) -> None:
    ours = house()
    revoked = await ours.token(Scope.VIEWER, "revoked")
    ends = ours.clock.now() + timedelta(minutes=1)
    expired = await ours.token(Scope.VIEWER, "expired", expires_at=ends)
    for token in (revoked, expired):
        assert (await ours.caller(token)("GET", "/metrics", **TEXT)).status == 200
    await ours.app.store.tokens.revoke("revoked")
    await ours.clock.advance("5s")
    assert (await ours.caller(revoked)("GET", "/metrics", **TEXT)).status == 401
    lose(ours)
    await ours.clock.advance("1m")
    for token in (revoked, expired):
        assert (await patiently(ours, ours.caller(token), "/metrics", **TEXT)).status == 503


async def test_nobody_is_remembered_for_ever(lose: Callable[[House], None]) -> None:
    ours = house()
    ask = ours.caller(await ours.token(Scope.VIEWER))
    assert (await ask("GET", "/metrics", **TEXT)).status == 200
    lose(ours)
    await ours.clock.advance(REMEMBERED)
    assert (await patiently(ours, ask, "/metrics", **TEXT)).status == 503


async def test_nothing_else_is_told_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = house()
    ask = ours.caller(await ours.token(Scope.ADMIN))
    assert (await ask("GET", "/tasks")).status == 200
    monkeypatch.setattr(ours.app.store.tokens, "find", refusing)
    await ours.clock.advance("5s")
    answer = await ask("GET", "/tasks")
    assert (answer.status, answer.kind) == (503, "store-unavailable")
    assert answer.headers["retry-after"] == "2"
