"""Ticks and changes of schedules: told by a node that had no part in them, and told once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from drumbeat import Client, Drumbeat, every
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.fleet.local.events import schedule_changes
from drumbeat.fleet.local.events.new_ticks import NEWEST
from drumbeat.model.errors import Unavailable
from drumbeat.model.schedules.plan import Fire
from drumbeat.testing import FakeRuntime, drain
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

from .caller import House, house
from .listener import feed_of, opened

HOURLY = every(hours=1)
LONGEST = 120.0


@pytest.fixture
async def ours() -> AsyncIterator[House]:
    made = house()
    yield made
    feed_of(made).close()


@pytest.fixture
def theirs(ours: House) -> Drumbeat:
    """Another node on the same store."""
    app = Drumbeat(ours.app.store, runtime=FakeRuntime(ours.clock), environment={})

    @app.task
    async def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    return app


async def test_ticks_of_another_node_are_told_once_each(ours: House, theirs: Drumbeat) -> None:
    await theirs.schedules.put("beat", every(seconds=5), "greet")
    listener = await opened(ours)
    async with theirs.running(["scheduler", "worker"]):
        await listener.settled("11s")
        await listener.settled("3s")
    ticks = listener.of("tick")
    rows = (await theirs.schedules.ticks("beat")).items
    assert [tick["job_id"] for tick in ticks] == [row.job_id for row in reversed(rows)]
    assert len(ticks) == 3
    assert {(tick["schedule"], tick["outcome"], tick["leader"]) for tick in ticks} == {
        ("beat", "fired", theirs.id)
    }


async def test_ticks_of_this_node_are_told_once_each(ours: House) -> None:
    await ours.app.schedules.put("beat", every(seconds=5), "greet")
    async with ours.app.running(["scheduler"]):
        listener = await opened(ours)
        await listener.settled("11s")
        await listener.settled("5s")  # skipped ticks send no hint, so they are found by a poll
        ticks = [tick["tick_at"] for tick in listener.of("tick")]
        assert len(ticks) == len(set(ticks)) == 3


async def test_ticks_of_before_are_not_told_and_skips_and_backfills_are(
    ours: House, theirs: Drumbeat
) -> None:
    await theirs.schedules.put("beat", HOURLY, "greet")
    start = ours.clock.now()
    await ours.clock.advance("3h")
    await theirs.schedules.backfill("beat", start, start + timedelta(minutes=90))
    listener = await opened(ours)
    assert listener.of("tick") == []
    await theirs.schedules.pause("beat")
    await theirs.schedules.backfill("beat", start, ours.clock.now())
    await listener.settled()
    told = [
        (tick["outcome"], tick["reason"], tick["count"], tick["backfilled"], tick["epoch"])
        for tick in listener.of("tick")
    ]
    assert told[0] == ("skipped", "paused", 3, False, None)
    assert told[1:] == [("fired", None, 1, True, None)] * 2


async def test_of_very_many_ticks_the_last_are_told_and_only_once(
    ours: House, theirs: Drumbeat
) -> None:
    stored = await theirs.schedules.put("beat", every(seconds=1), "greet")
    listener = await opened(ours)
    now = at = ours.clock.now()
    for second in range(3):
        at = now + timedelta(seconds=second)
        fires = [
            Fire(at - timedelta(hours=second + 1, seconds=number), stored.schedule.job)
            for number in range(NEWEST)
        ]
        await theirs.store.schedules.backfill("beat", fires, at)
    for _ in range(8):
        await listener.settled()
    ticks = [tick["tick_at"] for tick in listener.of("tick")]
    assert len(ticks) == len(set(ticks)) == NEWEST
    assert {tick["recorded_at"] for tick in listener.of("tick")} == {at.isoformat()[:-6] + "Z"}


async def test_a_row_that_is_seen_late_is_told(ours: House, theirs: Drumbeat) -> None:
    stored = await theirs.schedules.put("beat", HOURLY, "greet")
    listener = await opened(ours)
    for number, age in enumerate((0, 4)):  # the second was written while the first was
        now = ours.clock.now()
        fires = [Fire(now - timedelta(hours=number + 1), stored.schedule.job)]
        await theirs.store.schedules.backfill("beat", fires, now - timedelta(seconds=age))
        await listener.settled()
    assert len(listener.of("tick")) == 2


async def test_changes_through_another_node_are_told_once_each(
    ours: House, theirs: Drumbeat
) -> None:
    await theirs.schedules.put("old", HOURLY, "greet")
    listener = await opened(ours)
    assert listener.of("schedule") == []
    for change in (
        theirs.schedules.put("beat", HOURLY, "greet"),
        theirs.schedules.pause("beat", "the disk is full"),
        theirs.schedules.pause("beat", "the disk is still full"),
        theirs.schedules.resume("beat"),
        theirs.schedules.put("beat", every(hours=2), "greet"),
        theirs.schedules.remove("beat"),
    ):
        await change
        await listener.settled()
        await listener.settled()
    assert [(told["change"], told["reason"]) for told in listener.of("schedule")] == [
        ("put", ""),
        ("pause", "the disk is full"),
        ("pause", "the disk is still full"),
        ("resume", ""),
        ("put", ""),
        ("remove", ""),
    ]
    assert {told["schedule"] for told in listener.of("schedule")} == {"beat"}


async def test_what_code_declares_elsewhere_is_told(ours: House, theirs: Drumbeat) -> None:
    @theirs.scheduled(HOURLY)
    async def nightly() -> None: ...

    listener = await opened(ours)
    async with theirs.running(["scheduler"]):
        await listener.settled()
    assert listener.of("schedule") == [{"schedule": "nightly", "change": "put", "reason": ""}]


async def test_changes_through_this_node_are_told_soon_once_and_in_their_own_words(
    ours: House,
) -> None:
    listener = await opened(ours)
    schedules = ours.app.schedules
    tick = (await schedules.put("beat", HOURLY, "greet")).next_tick
    assert tick is not None
    for change in (
        lambda: schedules.skip("beat", tick),
        lambda: schedules.pause("beat", "why not"),
        lambda: schedules.remove("beat"),
    ):
        await listener.settled("500ms")
        await change()
    await listener.settled("500ms")
    expected = [("put", ""), ("skip", ""), ("pause", "why not"), ("remove", "")]
    assert [(told["change"], told["reason"]) for told in listener.of("schedule")] == expected
    await listener.settled("10s")
    assert len(listener.of("schedule")) == len(expected)


async def test_changes_between_two_looks_are_told_as_what_they_came_to(
    ours: House, theirs: Drumbeat
) -> None:
    await theirs.schedules.put("again", HOURLY, "greet")
    listener = await opened(ours)
    await ours.app.schedules.put("both", HOURLY, "greet")
    await theirs.schedules.pause("both", "at once")
    await theirs.schedules.put("brief", HOURLY, "greet")
    await theirs.schedules.remove("brief")
    await theirs.schedules.remove("again")
    await theirs.schedules.put("again", HOURLY, "greet")
    await listener.settled("5s")
    told = {(each["schedule"], each["change"]) for each in listener.of("schedule")}
    assert told == {("both", "put"), ("again", "put")}
    assert len(listener.of("schedule")) == 2


@pytest.mark.parametrize("many", [5, 6, 7])
async def test_more_schedules_than_one_look_reads_are_told_of_in_turn(
    ours: House, theirs: Drumbeat, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(schedule_changes, "PORTION", 3)
    names = [f"schedule {number}" for number in range(many)]
    for name in names:
        await theirs.schedules.put(name, HOURLY, "greet")
    listener = await opened(ours)
    await listener.settled("20s")
    assert listener.of("schedule") == []
    for name in names:
        await theirs.schedules.pause(name)
    await theirs.schedules.put("schedule 9", HOURLY, "greet")
    await listener.settled("20s")
    told = sorted((each["schedule"], each["change"]) for each in listener.of("schedule"))
    assert told == [*((name, "pause") for name in names), ("schedule 9", "put")]
    for name in names[2:]:
        await theirs.schedules.remove(name)
    await listener.settled("20s")
    gone = [each["schedule"] for each in listener.of("schedule") if each["change"] == "remove"]
    assert sorted(gone) == names[2:]


async def test_what_was_before_is_not_told_even_if_the_first_look_fails(
    ours: House, theirs: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    await theirs.schedules.put("old", HOURLY, "greet")
    await theirs.schedules.trigger("old")
    await drain(theirs)
    revisions, failures = MemorySchedules.revisions, 3

    async def failing(*arguments: Any) -> Any:
        nonlocal failures
        if failures:
            failures -= 1
            raise Unavailable("the store is away")
        return await revisions(*arguments)

    monkeypatch.setattr(MemorySchedules, "revisions", failing)
    listener = await opened(ours)
    await listener.settled("20s")
    assert not failures
    assert [kind for kind, _ in listener.events] == ["ready"]
    await theirs.schedules.pause("old")
    await theirs.schedules.trigger("old")
    await listener.settled("5s")
    assert {kind for kind, _ in listener.events} == {"ready", "schedule", "job", "queue"}


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/drumbeat.db", "drumbeat"
        return
    server: Postgres = request.getfixturevalue("postgres")
    with namespace_in(server.address) as namespace:
        yield server.address, namespace


async def test_an_api_node_apart_from_the_scheduler_tells_of_both(address: tuple[str, str]) -> None:
    store, namespace = address
    api = Drumbeat(store, environment={}, namespace=namespace, http_addr="127.0.0.1:0")
    scheduler = Drumbeat(store, environment={}, namespace=namespace)

    @scheduler.scheduled(every(seconds=1))
    async def beat() -> None: ...

    heard: list[tuple[str, Any]] = []
    async with asyncio.timeout(LONGEST), api.running(["api"]):
        url = f"http://{api.addresses[0]}"
        async with Client(url) as client, scheduler.running(["scheduler", "worker"]):
            async for event in client.events.follow(["tick", "schedule"]):
                heard.append((event.kind, msgspec.to_builtins(event.about)))
                if [kind for kind, _ in heard].count("tick") == 3:
                    await scheduler.schedules.pause("beat", "enough")
                if any(told.get("change") == "pause" for _, told in heard):
                    break
            rows = (await scheduler.schedules.ticks("beat")).items
    ticks = [told["tick_at"] for kind, told in heard if kind == "tick"]
    assert len(ticks) == len(set(ticks)) <= len(rows)
    assert heard[-1][1]["reason"] == "enough"
