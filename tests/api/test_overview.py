"""The overview: what needs attention, searches for schedules, and the timeline."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat.model.fleet.token import Scope

from .caller import Caller, House, house


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


async def add(ask: Caller, *names: str, **more: Any) -> None:
    for name in names:
        definition = {"name": name, "task": "greet", "when": "0 * * * *", **more}
        assert (await ask("POST", "/schedules", definition)).status == 201


async def names(ask: Caller, query: str = "") -> list[str]:
    answer = await ask("GET", f"/overview/schedules{query}")
    assert answer.status == 200
    return [each["name"] for each in answer.data]


async def kinds(ask: Caller) -> dict[str, str]:
    found = (await ask("GET", "/overview")).data["attention"]
    return {each["kind"]: each["subject"] for each in found}


async def test_an_empty_fleet_needs_no_attention(ask: Caller) -> None:
    overview = (await ask("GET", "/overview")).data
    assert overview["attention"] == []
    assert overview["schedules"]["total"] == 0
    assert overview["waits"] is None


async def test_without_a_leader_ticks_become_overdue(ours: House, ask: Caller) -> None:
    await add(ask, "nightly")
    assert await kinds(ask) == {"no_leader": "scheduler"}
    await ours.clock.advance("2h")
    assert await kinds(ask) == {"no_leader": "scheduler", "overdue": "nightly"}
    assert await names(ask, "?state=overdue") == ["nightly"]
    assert (await ask("GET", "/overview")).data["schedules"]["overdue"] == 1


async def test_a_paused_schedule_is_not_overdue(ours: House, ask: Caller) -> None:
    await add(ask, "nightly")
    await ask("POST", "/schedules/nightly/pause", {"reason": "x"})
    await ours.clock.advance("2h")
    assert await kinds(ask) == {}
    assert await names(ask, "?state=paused") == ["nightly"]


async def test_a_failing_schedule_is_named_until_a_run_completes(ours: House) -> None:
    from drumbeat import Retry, every

    @ours.app.scheduled(every(hours=1), name="flaky", retry=Retry.never())
    async def flaky() -> None:
        raise ValueError("no such customer")

    async with ours.app.running(["scheduler", "worker"]):
        await ours.clock.advance("61m")
        ask = ours.caller()
        attention = (await ask("GET", "/overview")).data["attention"]
        assert [(each["kind"], each["subject"]) for each in attention] == [("failing", "flaky")]
        assert "no such customer" in attention[0]["message"]
        (row,) = (await ask("GET", "/overview/schedules")).data
        assert row["state"] == "failing"
        assert row["ticks"][0]["status"] == "failed"
        assert row["interval_seconds"] == 3_600


async def test_a_queue_without_a_worker_and_a_paused_one_are_named(ask: Caller) -> None:
    await ask("POST", "/jobs", {"task": "greet", "queue": "mail"})
    assert await kinds(ask) == {"no_worker": "mail"}
    await ask("POST", "/queues/mail/pause", {"reason": "the mail server is away"})
    assert await kinds(ask) == {"paused_queue": "mail"}


async def test_a_search_finds_words_in_any_order_in_name_task_tags_and_rule(ask: Caller) -> None:
    await add(ask, "billing/nightly", when="30 2 * * *", tags=["money"])
    await add(ask, "cache/warm")
    assert await names(ask, "?search=NIGHT+bill") == ["billing/nightly"]
    assert await names(ask, "?search=money+greet") == ["billing/nightly"]
    assert await names(ask, "?search=02:30") == ["billing/nightly"]
    assert await names(ask, "?tag=money") == ["billing/nightly"]
    assert await names(ask, "?search=money+cache") == []


async def test_schedules_are_ordered_and_paged(ours: House, ask: Caller) -> None:
    await add(ask, "a", when="0 5 * * *")
    await add(ask, "b", when="0 3 * * *")
    await add(ask, "c", when="0 4 * * *")
    assert await names(ask, "?order=-name") == ["c", "b", "a"]
    assert await names(ask, "?order=next") == ["b", "c", "a"]
    await ask("POST", "/schedules/b/pause")
    await ours.clock.advance("6s")
    assert await names(ask, "?order=state") == ["b", "a", "c"]
    first = await ask("GET", "/overview/schedules?limit=2")
    assert 'rel="next"' in first.headers["link"]
    assert await names(ask, "?limit=2&after=2") == ["c"]
    assert await names(ask, "?limit=2&after=9") == []


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/overview/schedules?after=x", "after"),
        ("/overview/schedules?limit=51", "limit"),
        ("/overview/schedules?order=age", "order"),
        ("/overview/timeline?from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z", "to"),
        ("/overview/timeline?from=2030-01-01T00:00:00Z&to=2031-01-01T00:00:00Z", "to"),
    ],
)
async def test_a_wrong_request_names_its_field(ask: Caller, path: str, field: str) -> None:
    answer = await ask("GET", path)
    assert answer.status in (400, 422)
    assert answer.data["field"] == field


async def test_the_list_of_all_schedules_is_at_most_five_seconds_old(
    ours: House, ask: Caller
) -> None:
    assert await names(ask) == []
    await add(ask, "new")
    assert await names(ask) == []
    await ours.clock.advance("5s")
    assert await names(ask) == ["new"]


async def test_a_row_that_is_shown_is_read_afresh(ask: Caller) -> None:
    await add(ask, "nightly")
    assert await names(ask) == ["nightly"]
    await ask("POST", "/schedules/nightly/pause", {"reason": "x"})
    (row,) = (await ask("GET", "/overview/schedules")).data
    assert row["state"] == "paused"


async def test_the_timeline_has_past_and_coming_ticks_and_says_where_it_leaves_some_out(
    ours: House,
) -> None:
    ask = ours.caller()
    await add(ask, "quick", when="* * * * *")
    await add(ask, "hourly")
    async with ours.app.running(["scheduler", "worker"]):
        await ours.clock.advance("30m")
        now = await ours.app.store.now()
        timeline = (await ask("GET", "/overview/timeline?search=quick")).data
        (line,) = timeline["lines"]
        assert len(line["past"]) == 30
        assert {each["status"] for each in line["past"]} == {"completed"}
        assert line["complete_from"] == timeline["start"]
        assert len(line["coming"]) == 60
        far = f"{now.year + 1}-01-01T00:00:00Z"
        span = f"from={now.strftime('%Y-%m-%dT%H:%M:%SZ')}"
        assert (await ask("GET", f"/overview/timeline?{span}&to={far}")).status == 422
    assert timeline["schedules"] == 1


async def test_a_dense_timeline_tells_until_when_it_is_complete(ours: House) -> None:
    ask = ours.caller()
    await add(ask, "quick", when="*/5 * * * * *")
    (line,) = (await ask("GET", "/overview/timeline")).data["lines"]
    assert len(line["coming"]) == 60
    assert line["complete_until"] == line["coming"][-1]


async def test_the_history_begins_with_the_second_look(ours: House, ask: Caller) -> None:
    assert (await ask("GET", "/overview/history")).data["at"] == []
    await ask("POST", "/jobs", {"task": "greet"})
    await ours.clock.advance("10s")
    history = (await ask("GET", "/overview/history")).data
    assert history["queued"] == [1]
    assert history["completed_per_minute"] == [0.0]
    await ours.clock.advance("10m")
    assert (await ask("GET", "/overview/history")).data["completed_per_minute"] == [0.0, None]


async def test_the_overview_needs_the_scope_of_a_viewer(ours: House) -> None:
    token = await ours.token(Scope.VIEWER)
    for path in ("/overview", "/overview/history", "/overview/schedules", "/overview/timeline"):
        assert (await ours.caller()("GET", path)).status == 401
        assert (await ours.caller(token)("GET", path)).status == 200
