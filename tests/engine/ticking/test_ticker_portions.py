"""Many schedules that are due at once are fired in portions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from drumbeat import Drumbeat, Status, cron
from drumbeat.engine.ticking import portions, ticker
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.events import LeadershipLost, ServiceFailed
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.rules.planning.plan import plan
from tests.engine.support.fleet import Fault, Fleet, Heard, fired, ledger


async def test_many_schedules_due_at_once_all_fire(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    for number in range(1_200):
        app.schedule(work, cron("0 1 * * *"), name=f"s{number}")
    async with fleet.running(app):
        await fleet.clock.advance("1h")
        await fleet.clock.until(app.wait_until_idle())
        counts = await app.jobs.counts()
        assert counts["default"][Status.COMPLETED] == 1_200


@pytest.fixture
async def crowd(
    fleet: Fleet, app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Fault]:
    """Five schedules that come due together, in portions of two; what stands before the commit."""
    monkeypatch.setattr(portions, "PORTION", 2)

    @app.task
    async def work() -> None: ...

    for number in range(5):
        app.schedule(work, cron("0 1 * * *"), name=f"s{number}")
    async with fleet.running(app):
        yield Fault(fleet.store.schedules, "commit")


def never(_: DueSchedule) -> bool:
    return False


async def ticks_of_the_crowd(app: Drumbeat) -> list[int]:
    return [len(fired(await ledger(app, f"s{number}"))) for number in range(5)]


async def test_what_is_due_at_once_is_committed_in_portions(
    fleet: Fleet, app: Drumbeat, crowd: Fault
) -> None:
    await fleet.clock.advance("1h")
    assert [[made.name for made in call[0]] for call in crowd.calls] == [
        ["s0", "s1"],
        ["s2", "s3"],
        ["s4"],
    ]
    assert await ticks_of_the_crowd(app) == [1] * 5


async def test_the_next_portion_is_planned_while_the_last_is_written(
    fleet: Fleet, app: Drumbeat, crowd: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []

    def noted(due: DueSchedule, now: datetime) -> Plan:
        planned.append(due.stored.name)
        return plan(due, now)

    monkeypatch.setattr(ticker, "plan", noted)
    monkeypatch.setattr(ticker, "may_be_planned_ahead", never)
    crowd.hang()
    await fleet.clock.advance("1h")
    assert planned == ["s0", "s1", "s2", "s3"]
    assert len(crowd.calls) == 1
    crowd.heal()
    await fleet.clock.advance(1)
    assert await ticks_of_the_crowd(app) == [1] * 5


@pytest.mark.parametrize("mode", ["before", "after"])
async def test_a_portion_without_an_answer_neither_loses_nor_doubles_a_tick(
    fleet: Fleet, app: Drumbeat, crowd: Fault, heard: Heard, mode: str
) -> None:
    crowd.modes += ["", mode]
    await fleet.clock.advance("1h")
    assert len(crowd.calls) == 2, "what comes after is left for the next pass"
    await fleet.clock.advance(1)
    assert len(heard.of(ServiceFailed)) == 1
    assert await ticks_of_the_crowd(app) == [1] * 5


async def test_nothing_is_written_after_the_fence_was_lost(
    fleet: Fleet, app: Drumbeat, crowd: Fault, heard: Heard
) -> None:
    crowd.modes += ["", "before"]
    crowd.error = StaleEpoch(ours=1, seen=2)
    await fleet.clock.advance("1h")
    assert len(crowd.calls) == 2
    assert [event.epoch for event in heard.of(LeadershipLost)] == [1]
    await fleet.clock.advance(30)
    assert await ticks_of_the_crowd(app) == [1] * 5


async def test_a_ticker_that_is_told_to_end_leaves_no_write_behind(
    fleet: Fleet, app: Drumbeat, crowd: Fault
) -> None:
    crowd.hang()
    await fleet.clock.advance("1h")
    assert crowd.hanging.is_set()
    await app.stop()
    crowd.heal()
    await fleet.clock.sleep(0)
    assert await ticks_of_the_crowd(app) == [0] * 5
