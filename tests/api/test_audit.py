"""Whatever somebody changes is written down before it is changed."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat.api.call import Call
from drumbeat.api.problem import Problem
from drumbeat.api.route import Route
from drumbeat.model.audit import AuditFilter, AuditNote
from drumbeat.model.errors import Unavailable, UnknownJob
from drumbeat.model.page import PageRequest
from drumbeat.model.token import Scope

from .caller import House, house

seen: list[str | None] = []


async def changing(call: Call[Any, Any]) -> None:
    """A change that looks at the log while it is made."""
    (entry, *_) = await entries(call.desk.store)
    seen.append(entry.outcome)
    match call.path["what"]:
        case "refused":
            raise Problem(409, "conflict", "it has changed")
        case "unknown":
            raise UnknownJob(7)
        case "broken":
            raise ZeroDivisionError
        case _:
            pass


ROUTES = (
    Route("POST", "/things/{what}", Scope.OPERATOR, changing, "", None, change="thing.change"),
    Route("GET", "/things/{what}", Scope.VIEWER, changing, "", None),
)


async def entries(store: Any) -> Any:
    return (await store.audit.list(AuditFilter(), PageRequest())).items


@pytest.fixture
def ours() -> House:
    seen.clear()
    return house(api_token="let me in", routes=ROUTES)


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
    caller = ours.caller("let me in")
    answer = await caller("POST", f"/things/{what}", x_drumbeat_reason="because")
    assert answer.status == status
    assert seen == [None]
    (entry,) = await entries(ours.app.store)
    assert entry.note == AuditNote("api_token", "thing.change", what, "because")
    assert entry.outcome == outcome


async def test_a_look_is_not_recorded(ours: House) -> None:
    await ours.app.store.audit.record(AuditNote("x", "y", "z"))
    await ours.caller("let me in")("GET", "/things/this")
    assert len(await entries(ours.app.store)) == 1


async def test_nothing_is_changed_that_cannot_be_recorded(
    ours: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise Unavailable("the store is away")

    monkeypatch.setattr(ours.app.store.audit, "record", away)
    answer = await ours.caller("let me in")("POST", "/things/this")
    assert (answer.status, answer.kind) == (503, "store-unavailable")
    assert seen == []


async def test_who_is_refused_leaves_no_entry(ours: House) -> None:
    token = await ours.token(Scope.VIEWER)
    assert (await ours.caller(token)("POST", "/things/this")).status == 403
    assert await entries(ours.app.store) == ()


async def test_tokens_are_made_shown_once_and_revoked() -> None:
    ours = house(api_token="let me in")
    admin = ours.caller("let me in")
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
