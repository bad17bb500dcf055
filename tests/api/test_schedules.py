"""Schedules over HTTP: defined, changed, looked at and explained."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from drumbeat.testing import tick

from .caller import Answer, Caller, House, house

NAMES = ["nightly", "a/b", "a b?c#d&e=f%", "ünïcødé 🥁", ".."]


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


async def put(ask: Caller, name: str = "nightly", **more: Any) -> Answer:
    body = {"task": "greet", "when": "30 2 * * *", "tz": "Europe/Paris", **more}
    return await ask("PUT", f"/schedules/{quote(name, safe='')}", body)


@pytest.mark.parametrize("name", NAMES)
async def test_a_schedule_may_have_any_name(ask: Caller, name: str) -> None:
    path = f"/schedules/{quote(name, safe='')}"
    created = await put(ask, name)
    assert (created.status, created.data["name"]) == (201, name)
    assert created.headers["location"] == path
    assert (await put(ask, name)).status == 200
    assert (await ask("GET", path)).data["name"] == name
    assert (await ask("GET", f"{path}/preview")).status == 200
    assert (await ask("DELETE", path)).status == 204
    assert (await ask("GET", path)).status == 404


async def test_a_schedule_is_created_once(ask: Caller) -> None:
    body = {"name": "beat", "task": "greet", "when": {"type": "every", "interval": 60}}
    assert (await ask("POST", "/schedules", body)).status == 201
    again = await ask("POST", "/schedules", body)
    assert (again.status, again.kind) == (409, "conflict")
    assert again.data["detail"] == "there is a schedule 'beat' already; replace or edit it"


async def test_what_is_shown_can_be_given_back(ask: Caller) -> None:
    made = (await put(ask, policies={"window": 90, "overlap": "allow"}, priority=5)).data
    same = {name: made[name] for name in ("task", "policies", "queue", "priority", "retry")}
    answer = await ask(
        "PUT",
        "/schedules/nightly",
        {**same, "when": made["trigger"], "args": made["arguments"], "tags": made["tags"]},
    )
    assert answer.status == 200
    for name in ("trigger", "arguments", "next_tick", *same):
        assert answer.data[name] == made[name]


async def test_a_change_leaves_the_rest_as_it_is(ask: Caller) -> None:
    await put(ask, args={"name": "Anna"}, description="by night", policies={"window": 90})
    answer = await ask("PATCH", "/schedules/nightly", {"policies": {"cap": 3}, "priority": 9})
    assert answer.status == 200
    changed = answer.data
    assert (changed["policies"]["window"], changed["policies"]["cap"]) == (90.0, 3)
    assert (changed["priority"], changed["description"]) == (9, "by night")
    assert (changed["arguments"], changed["when"]) == (
        {"name": "Anna"},
        "At 02:30 every day (Europe/Paris)",
    )
    moved = await ask("PATCH", "/schedules/nightly", {"when": "@hourly"})
    assert moved.data["next_tick"] == "2030-01-01T01:00:00Z"
    assert (await ask("PATCH", "/schedules/other", {})).status == 404


async def test_a_new_expression_keeps_what_the_old_one_said_of_the_clock(ask: Caller) -> None:
    await put(ask, dst_gap="skip")
    path = "/schedules/nightly"
    moved = (await ask("PATCH", path, {"when": "0 3 * * *"})).data
    assert moved["when"] == "At 03:00 every day (Europe/Paris)"
    assert moved["trigger"]["dst_gap"] == "skip"
    moved = (await ask("PATCH", path, {"when": "TZ=Asia/Tokyo 0 4 * * *"})).data
    assert moved["when"] == "At 04:00 every day (Asia/Tokyo)"
    moved = (await ask("PATCH", path, {"when": "0 5 * * *", "tz": "UTC"})).data
    assert moved["when"] == "At 05:00 every day (UTC)"
    moved = (await ask("PATCH", path, {"when": "@every 5m"})).data
    assert moved["when"] == "Every 5 minutes"
    moved = (await ask("PATCH", path, {"when": "0 6 * * *"})).data
    assert moved["when"] == "At 06:00 every day (UTC)"


async def test_a_change_of_the_task_or_its_arguments_is_checked(ask: Caller) -> None:
    await put(ask, args={"name": "Anna"})
    path = "/schedules/nightly"
    changed = await ask("PATCH", path, {"args": {"name": "Berta"}})
    assert changed.data["arguments"] == {"name": "Berta"}
    assert (await ask("PATCH", path, {"args": {"nome": "Berta"}})).status == 422
    elsewhere = await ask("PATCH", path, {"task": "elsewhere", "args": {"n": 1}})
    assert (elsewhere.data["task"], elsewhere.data["arguments"]) == ("elsewhere", {"n": 1})
    back = await ask("PATCH", path, {"task": "greet"})
    assert (back.status, back.data["field"]) == (422, "args")
    assert (await ask("PATCH", path, {"task": "elsewhere"})).status == 200  # it is the same
    wrong = await ask("PATCH", path, {"task": "greet", "args": {"n": 1}})
    assert "unexpected keyword argument" in wrong.data["detail"]
    assert (await ask("PATCH", path, {"tz": "Europe/Paris"})).data["field"] == "tz"
    assert (await ask("GET", path)).data["arguments"] == {"n": 1}


async def test_a_task_that_only_others_know_is_scheduled_with_unchecked_arguments(
    ask: Caller,
) -> None:
    made = await put(ask, task="elsewhere", args={"n": 1})
    assert (made.status, made.data["arguments"]) == (201, {"n": 1})
    job = await ask("POST", "/schedules/nightly/trigger", {"args": {"n": 2}})
    assert (job.status, job.data["arguments"], job.data["schedule"]) == (201, {"n": 2}, "nightly")


async def test_other_arguments_bring_their_own_limit_key(ours: House, ask: Caller) -> None:
    @ours.app.task(key="account-{account}")
    async def bill(account: int) -> None: ...

    await put(ask, task="bill", args={"account": 1})
    triggered = await ask("POST", "/schedules/nightly/trigger", {"args": {"account": 2}})
    await ask("PATCH", "/schedules/nightly", {"args": {"account": 3}})
    job = await ours.app.jobs.get(triggered.data["id"])
    schedule = await ours.app.schedules.get("nightly")
    assert [limit.key for limit in job.spec.limits] == ["key:bill:account-2"]
    assert [limit.key for limit in schedule.schedule.job.limits] == ["key:bill:account-3"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"when": "61 * * * *"}, "when"),
        ({"when": {"type": "hourly"}}, "when"),
        ({"when": {"type": "every", "interval": -1}}, "when"),
        ({"tz": "Mars/Olympus"}, "tz"),
        ({"args": {"nome": "Anna"}}, "args"),
        ({"policies": {"cap": 0}}, "policies.cap"),
        ({"policies": {"colour": 1}}, "policies.colour"),
        ({"queue": "@leader"}, "queue"),
        ({"task": "drumbeat.retry_jobs"}, "task"),
        ({"colour": "red"}, "colour"),
        ({"when": {"type": "daily", "times": ["09:00"]}, "tz": "UTC"}, "tz"),
        ({"when": "x" * 501}, "when"),
    ],
)
async def test_a_definition_that_cannot_be_is_refused(
    ask: Caller, change: dict[str, Any], field: str | None
) -> None:
    for method, path in (("PUT", "/schedules/nightly"), ("POST", "/schedules")):
        body = {"task": "greet", "when": "0 2 * * *", **change}
        if method == "POST":
            body["name"] = "nightly"
        answer = await ask(method, path, body)
        assert answer.status == 422, answer.body
        assert answer.data.get("field") == field
    assert (await ask("GET", "/schedules")).data == []


async def test_a_schedule_is_paused_and_resumed_for_a_reason(ask: Caller) -> None:
    await put(ask)
    paused = (await ask("POST", "/schedules/nightly/pause", {"reason": "full disk"})).data
    assert (paused["paused"], paused["pause_reason"]) == (True, "full disk")
    assert (await ask("POST", "/schedules/nightly/resume")).data["paused"] is False
    actions = [entry["action"] for entry in (await ask("GET", "/audit")).data]
    assert actions == ["schedule.resume", "schedule.pause", "schedule.put"]


async def test_one_tick_is_skipped_and_that_is_taken_back(ask: Caller) -> None:
    await put(ask)
    skipped = (await ask("POST", "/schedules/nightly/skip")).data
    assert skipped["skips"] == ["2030-01-01T01:30:00Z"]
    coming = (await ask("GET", "/schedules/nightly/preview?n=1")).data
    assert coming["next"] == ["2030-01-02T01:30:00Z"]
    refused = await ask("POST", "/schedules/nightly/skip", {"tick_at": "2030-01-01T01:31:00Z"})
    assert (refused.status, refused.data["field"]) == (422, "tick_at")
    back = await ask("POST", "/schedules/nightly/unskip", {"tick_at": "2030-01-01T01:30:00Z"})
    assert back.data["skips"] == []
    assert (await ask("POST", "/schedules/nightly/unskip")).status == 409


async def test_past_ticks_are_backfilled_once_and_a_dry_run_fires_none(
    ours: House, ask: Caller
) -> None:
    await put(ask)
    await ours.clock.advance("3d")
    body = {"from": "2030-01-01T00:00:00Z", "to": "2030-01-02T12:00:00Z", "dry_run": True}
    path = "/schedules/nightly/backfill"
    would = (await ask("POST", path, body)).data
    assert [each["outcome"] for each in would] == ["would fire"] * 2
    fired = (await ask("POST", path, {**body, "dry_run": False})).data
    assert [(each["outcome"], each["job_id"]) for each in fired] == [("fired", 1), ("fired", 2)]
    again = (await ask("POST", path, {**body, "dry_run": False})).data
    assert [each["outcome"] for each in again] == ["had fired before"] * 2
    refused = await ask("POST", path, {**body, "from": "2030-01-03T00:00:00Z"})
    assert (refused.status, refused.data["field"]) == (422, "from")
    assert refused.data["rule"] == "not after to, 2030-01-02T12:00:00+00:00"
    refused = await ask("POST", path, {**body, "to": "2031-01-01T00:00:00Z"})
    assert (refused.status, refused.data["field"]) == (422, "to")


async def test_a_preview_tells_what_the_clock_does_to_a_tick(ours: House, ask: Caller) -> None:
    await put(ask)
    await ours.clock.advance("88d")
    seen = (await ask("GET", "/schedules/nightly/preview?n=3")).data
    assert (seen["tz"], len(seen["ticks"])) == ("Europe/Paris", 3)
    noted = [each for each in seen["ticks"] if each["note"]]
    assert noted == [
        {
            "at": "2030-03-31T01:00:00Z",
            "local": "2030-03-31T03:00:00+02:00",
            "offset": "+02:00",
            "note": "Sun 2030-03-31 02:00 -> 03:00: 02:30 does not exist: runs at 03:00 instead",
        }
    ]
    assert [each["offset"] for each in seen["ticks"]] == ["+01:00", "+02:00", "+02:00"]


async def test_a_rule_is_previewed_without_a_schedule(ask: Caller) -> None:
    body = {"when": "0 9 * * mon", "tz": "Asia/Tokyo", "n": 2}
    seen = (await ask("POST", "/cron/preview", body)).data
    assert seen["means"] == "At 09:00 every Monday (Asia/Tokyo)"
    assert [each["local"] for each in seen["ticks"]] == [
        "2030-01-07T09:00:00+09:00",
        "2030-01-14T09:00:00+09:00",
    ]
    assert (await ask("POST", "/cron/preview", {"when": "x"})).data["field"] == "when"
    assert (await ask("POST", "/cron/preview", {"when": "@daily", "n": 1001})).status == 422


async def test_the_ledger_and_its_explanation(ours: House, ask: Caller) -> None:
    await put(ask, when="@hourly", tz="UTC")
    for _ in range(2):
        await ours.clock.advance("1h")
        await tick(ours.app)
    ticks = (await ask("GET", "/schedules/nightly/ticks?limit=1")).data
    assert [(each["tick_at"], each["outcome"]) for each in ticks] == [
        ("2030-01-01T02:00:00Z", "skipped")
    ]
    told = (await ask("GET", "/schedules/nightly/explain?ticks=2")).data
    assert told["explanation"][0] == "nightly runs greet: every hour (UTC)."
    assert [each["explanation"] for each in told["ticks"]] == [
        "skipped: the job of the tick before was still unfinished",
        "fired 0ms late as job 1, epoch 1",
    ]
    assert told["previous_job"]["id"] == 1
    assert (await ask("GET", "/schedules/other/explain")).status == 404
    assert (await ask("GET", "/schedules/nightly/explain?tz=Mars")).status == 422


async def test_schedules_are_listed_by_name_and_prefix(ask: Caller) -> None:
    for name in ("b", "a-2", "a-1"):
        await put(ask, name)
    first = await ask("GET", "/schedules?prefix=a-&limit=1")
    assert [each["name"] for each in first.data] == ["a-1"]
    path = first.headers["link"].partition(">")[0].removeprefix("<")
    assert [each["name"] for each in (await ask("GET", path)).data] == ["a-2"]


async def test_secret_arguments_are_shown_to_nobody_and_not_given_back(ours: House) -> None:
    @ours.app.task(secret=("password",))
    async def log_in(user: str, password: str) -> None: ...

    ask = ours.caller()
    args = {"user": "anna", "password": "hunter2"}
    body = {"task": "log_in", "when": "30 2 * * *", "args": args}
    path = "/schedules/nightly"
    answers = [
        await ask("PUT", path, body),
        await ask("GET", path),
        await ask("GET", "/schedules"),
        await ask("POST", f"{path}/trigger"),
        await ask("POST", f"{path}/trigger", {"args": args}),
        await ask("GET", f"{path}/explain"),
        await ask("GET", "/audit"),
    ]
    assert all(answer.status < 300 for answer in answers)
    assert not any(b"hunter2" in answer.body for answer in answers)
    shown = answers[1].data["arguments"]
    assert shown == {"user": "anna", "password": "[redacted]"}
    for method, where, given in (
        ("PUT", path, {**body, "args": shown}),
        ("PATCH", path, {"args": shown}),
        ("POST", f"{path}/trigger", {"args": shown}),
        ("POST", "/jobs", {"task": "log_in", "args": shown}),
        ("POST", "/jobs/batch", {"jobs": [{"task": "log_in", "args": shown}]}),
    ):
        refused = await ask(method, where, given)
        assert (refused.status, refused.data["field"].endswith("args")) == (422, True)
        assert "password of task 'log_in' is secret" in refused.data["detail"]
    for task in ("greet", "nobody_knows"):  # whose arguments of that name are not secret
        refused = await ask("PATCH", path, {"task": task})
        assert (refused.status, refused.data["field"]) == (422, "args")
        assert b"hunter2" not in refused.body
    stored = await ours.app.schedules.get("nightly")
    assert stored.schedule.job.arguments == b'{"user":"anna","password":"hunter2"}'
