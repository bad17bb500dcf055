"""`If-Match` and `If-None-Match` on schedules, and the version as `ETag`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from drumbeat.model.errors import VersionMismatch
from drumbeat.model.schedules.plan import Edit

from .caller import Answer, Caller, House, house

NAMED = "/schedules/nightly"
DAILY = {"task": "greet", "when": "@daily"}
HOURLY = {"task": "greet", "when": "@hourly"}
TICK = {"tick_at": "2030-01-02T00:00:00Z"}
CHANGES: list[tuple[str, str, Any, int]] = [
    ("PUT", "", HOURLY, 200),
    ("PATCH", "", {"priority": 5}, 200),
    ("DELETE", "", None, 204),
    ("POST", "/pause", {"reason": "full disk"}, 200),
    ("POST", "/resume", None, 200),
    ("POST", "/hand-back", None, 200),
    ("POST", "/skip", TICK, 200),
    ("POST", "/skip", None, 200),
    ("POST", "/unskip", TICK, 200),
    ("POST", "/trigger", None, 201),
    ("POST", "/backfill", {"from": "2029-12-01T00:00:00Z"}, 200),
]


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
async def ask(ours: House) -> Caller:
    """A caller, and a schedule at version 2."""
    ask = ours.caller()
    assert (await ask("PUT", NAMED, DAILY)).headers["etag"] == '"1"'
    assert (await ask("PATCH", NAMED, {"description": "by night"})).headers["etag"] == '"2"'
    return ask


def assert_refused(answer: Answer, version: int | None) -> None:
    assert (answer.status, answer.kind) == (412, "version-mismatch")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.data.get("version") == version
    assert answer.headers.get("etag") == (None if version is None else f'"{version}"')


@pytest.mark.parametrize(("method", "path", "body", "status"), CHANGES)
@pytest.mark.parametrize("tag", ['"1"', '"3"', 'W/"1"', '"1", "3"', '"other"', "1"])
async def test_another_version_is_refused(
    ask: Caller, method: str, path: str, body: Any, status: int, tag: str
) -> None:
    before = (await ask("GET", NAMED)).data
    answer = await ask(method, NAMED + path, body, if_match=tag)
    assert_refused(answer, 2)
    assert "is at version 2" in answer.data["detail"]
    assert (await ask("GET", NAMED)).data == before
    assert (await ask("GET", "/jobs")).data == []


@pytest.mark.parametrize(("method", "path", "body", "status"), CHANGES)
@pytest.mark.parametrize("tag", ['"2"', 'W/"2"', '"1" ,"2"', "*", "2"])
async def test_the_present_version_is_changed(
    ask: Caller, method: str, path: str, body: Any, status: int, tag: str
) -> None:
    assert (await ask(method, NAMED + path, body, if_match=tag)).status == status


@pytest.mark.parametrize("tag", ['"2', "two", "", " ", '"1";"2"', '"1",,"2"'])
async def test_what_is_no_list_of_tags_is_refused(ask: Caller, tag: str) -> None:
    answer = await ask("PATCH", NAMED, {"priority": 5}, if_match=tag)
    if not tag.strip():  # an empty header says nothing
        assert answer.status == 200
    else:
        assert (answer.status, answer.data["field"]) == (422, "if-match")


async def test_every_answer_with_a_schedule_has_its_version(ask: Caller) -> None:
    new = await ask("POST", "/schedules", {"name": "new", **DAILY})
    assert new.headers["etag"] == '"1"'
    for method, path, body, _ in CHANGES:
        if path in ("/trigger", "/backfill") or method == "DELETE":
            continue
        answer = await ask(method, NAMED + path, body)
        assert answer.headers["etag"] == f'"{answer.data["version"]}"'
    shown = await ask("GET", NAMED)
    assert shown.headers["etag"] == f'"{shown.data["version"]}"'


async def test_a_put_creates_only(ask: Caller) -> None:
    assert_refused(await ask("PUT", NAMED, HOURLY, if_none_match="*"), 2)
    assert (await ask("PUT", "/schedules/new", HOURLY, if_none_match="*")).status == 201
    answer = await ask("PUT", NAMED, HOURLY, if_none_match='"2"')
    assert (answer.status, answer.data["field"]) == (422, "if-none-match")


@pytest.mark.parametrize("tag", ["*", '"1"'])
async def test_a_put_replaces_only(ask: Caller, tag: str) -> None:
    assert_refused(await ask("PUT", "/schedules/new", HOURLY, if_match=tag), None)
    assert (await ask("GET", "/schedules/new")).status == 404


async def test_what_does_not_exist_is_not_found(ask: Caller) -> None:
    for method, path, body, _ in CHANGES[1:]:
        answer = await ask(method, f"/schedules/other{path}", body, if_match='"1"')
        assert answer.status == 404


@pytest.mark.parametrize(("method", "path", "body", "status"), CHANGES[:4])
async def test_a_change_between_the_check_and_the_write_is_noticed(
    ours: House,
    ask: Caller,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    body: Any,
    status: int,
) -> None:
    """The version is the compare value of the write, and is not only looked at before it."""
    store = ours.app.store.schedules
    put = store.put

    async def overtaken(edits: Sequence[Edit]) -> Any:
        monkeypatch.setattr(store, "put", put)
        await ours.app.schedules.pause("nightly", "by somebody else")
        return await put(edits)

    monkeypatch.setattr(store, "put", overtaken)
    assert_refused(await ask(method, NAMED + path, body, if_match='"2"'), 3)
    assert (await ask("GET", NAMED)).data["pause_reason"] == "by somebody else"
    assert (await ask(method, NAMED + path, body, if_match='"3"')).status == status


async def test_a_tick_that_fires_meanwhile_changes_no_version(ours: House, ask: Caller) -> None:
    from drumbeat.testing import tick

    await ours.clock.advance("2d")
    await tick(ours.app)
    assert (await ask("GET", NAMED)).data["runs"] > 0
    assert (await ask("PATCH", NAMED, {"priority": 5}, if_match='"2"')).status == 200


async def test_code_can_name_the_version_too(ours: House, ask: Caller) -> None:
    schedules = ours.app.schedules
    with pytest.raises(VersionMismatch) as refused:
        await schedules.at_version(1).pause("nightly")
    assert (refused.value.schedule, refused.value.version) == ("nightly", 2)
    assert (await schedules.at_version(2).pause("nightly")).version == 3
    await ask("GET", NAMED)
