"""Whatever somebody changes is written down before it is changed."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat.api.http.call import Call
from drumbeat.api.http.route import Route
from drumbeat.fleet.local.audit import TOO_LONG
from drumbeat.model.errors import Conflict, Unavailable, UnknownJob
from drumbeat.model.fleet.audit import AuditFilter, AuditNote
from drumbeat.model.fleet.token import Scope
from drumbeat.model.page import PageRequest

from .caller import House, house

seen: list[str | None] = []


async def changing(call: Call[Any, Any]) -> None:
    """A change that looks at the log while it is made."""
    async with call.fleet.trail.change("thing.change", call.path["what"]):
        await looking(call)
        match call.path["what"]:
            case "refused":
                raise Conflict("it has changed")
            case "unknown":
                raise UnknownJob(7)
            case "broken":
                raise ZeroDivisionError
            case _:
                pass


async def looking(call: Call[Any, Any]) -> None:
    (entry, *_) = await entries(call.fleet.services.store)
    seen.append(entry.outcome)


ROUTES = (
    Route("POST", "/things/{what}", Scope.OPERATOR, changing, "", None, audited=True),
    Route("GET", "/things/{what}", Scope.VIEWER, looking, "", None),
)


async def entries(store: Any) -> Any:
    return (await store.audit.list(AuditFilter(), PageRequest())).items


@pytest.fixture
def ours() -> House:
    seen.clear()
    return house(api_token="let-me-in-with-this-one", routes=ROUTES)


@pytest.mark.parametrize(
    ("what", "status", "outcome"),
    [
        ("this", 200, "done"),
        ("refused", 409, "conflict"),
        ("unknown", 404, "unknown-job"),
        ("broken", 500, "error"),
    ],
)
async def test_a_change_is_recorded_before_and_concluded_after(
    ours: House, what: str, status: int, outcome: str
) -> None:
    caller = ours.caller("let-me-in-with-this-one")
    answer = await caller("POST", f"/things/{what}", x_drumbeat_reason="because")
    assert answer.status == status
    assert seen == [None]
    (entry,) = await entries(ours.app.store)
    assert entry.note == AuditNote("api_token", "thing.change", what, "because")
    assert entry.outcome == outcome


async def test_a_look_is_not_recorded(ours: House) -> None:
    await ours.app.store.audit.record(AuditNote("x", "y", "z"))
    await ours.caller("let-me-in-with-this-one")("GET", "/things/this")
    assert len(await entries(ours.app.store)) == 1


async def test_nothing_is_changed_that_cannot_be_recorded(
    ours: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise Unavailable("the store is away")

    monkeypatch.setattr(ours.app.store.audit, "record", away)
    answer = await ours.caller("let-me-in-with-this-one")("POST", "/things/this")
    assert (answer.status, answer.kind) == (503, "store-unavailable")
    assert seen == []


async def test_who_is_refused_leaves_no_entry(ours: House) -> None:
    token = await ours.token(Scope.VIEWER)
    assert (await ours.caller(token)("POST", "/things/this")).status == 403
    assert await entries(ours.app.store) == ()


@pytest.mark.parametrize(
    ("method", "path", "body", "details"),
    [
        (
            "POST",
            "/jobs/cancel",
            {"filter": {"task": "greet", "status": ["queued"]}},
            {"filter": {"task": "greet", "status": ["queued"]}},
        ),
        ("POST", "/jobs/retry", {"filter": {}, "all": True}, {"filter": {}, "all": True}),
        ("POST", "/tokens", {"name": "x", "scope": "admin"}, {"scope": "admin"}),
        (
            "POST",
            "/schedules/beat/skip",
            {"tick_at": "2099-01-01T00:00:00Z"},
            {"tick_at": "2099-01-01T00:00:00Z"},
        ),
        (
            "POST",
            "/schedules/beat/backfill",
            {"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"},
            {"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"},
        ),
        (
            "PUT",
            "/schedules/beat",
            {"task": "greet", "when": "@daily", "args": {"name": "hush"}, "policies": {"cap": 3}},
            {"task": "greet", "when": "@daily", "policies": {"cap": 3}},
        ),
        ("PATCH", "/schedules/beat", {"when": {"type": "x", "y": "z" * 3_000}}, {"when": TOO_LONG}),
        ("POST", "/schedules/beat/trigger", {"args": {"name": "hush"}}, {}),
        ("PUT", "/configuration/key", {"value": "hush"}, {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_exactly_was_asked_for_is_kept_without_what_may_be_secret(
    method: str, path: str, body: Any, details: Any
) -> None:
    ours = house(api_token="let-me-in-with-this-one")
    await ours.caller("let-me-in-with-this-one")(method, path, body)
    (entry,) = await entries(ours.app.store)
    assert entry.note.details == details


async def test_what_is_only_counted_is_not_recorded() -> None:
    ask = house(api_token="let-me-in-with-this-one").caller("let-me-in-with-this-one")
    counted = await ask("POST", "/jobs/cancel", {"filter": {"task": "greet"}, "dry_run": True})
    assert counted.status == 202
    assert (await ask("GET", "/audit")).data == []


async def test_a_reason_may_stand_in_a_header() -> None:
    ask = house(api_token="let-me-in-with-this-one").caller("let-me-in-with-this-one")
    await ask("PUT", "/schedules/beat", {"task": "greet", "when": "@daily"})
    paused = await ask("POST", "/schedules/beat/pause", x_drumbeat_reason="no disk")
    assert paused.data["pause_reason"] == "no disk"
    body = {"reason": "said inside"}
    paused = await ask("POST", "/queues/mail/pause", body, x_drumbeat_reason="said outside")
    assert paused.data["paused"]["reason"] == "said inside"
    log = await ask("GET", "/audit?limit=2")
    assert [each["reason"] for each in log.data] == ["said inside", "no disk"]


async def test_a_token_is_not_made_to_be_over() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    now = ours.clock.now().isoformat()
    body = {"name": "x", "scope": "viewer", "expires_at": now}
    refused = await ours.caller("let-me-in-with-this-one")("POST", "/tokens", body)
    assert (refused.status, refused.data["field"]) == (422, "expires_at")
    assert not await ours.app.store.tokens.list()


async def test_tokens_are_made_shown_once_and_revoked() -> None:
    ours = house(api_token="let-me-in-with-this-one")
    admin = ours.caller("let-me-in-with-this-one")
    made = await admin("POST", "/tokens", {"name": "deploy", "scope": "submitter"})
    assert made.status == 201
    token = made.data["token"]
    assert (await ours.caller(token)("POST", "/jobs", {"task": "greet"})).status == 201
    assert token.encode() not in (await admin("GET", "/tokens")).body
    again = await admin("POST", "/tokens", {"name": "deploy", "scope": "viewer"})
    assert (again.status, again.kind) == (409, "name-taken")
    assert (await admin("DELETE", "/tokens/deploy")).data["revoked_at"] is not None
    assert (await ours.caller(token)("GET", "/jobs")).status == 401  # at once, on this node
    assert (await admin("DELETE", "/tokens/other")).status == 404
    log = await admin("GET", "/audit?action=token.create")
    assert [(each["target"], each["outcome"]) for each in log.data] == [
        ("deploy", "name-taken"),
        ("deploy", "done"),
    ]
