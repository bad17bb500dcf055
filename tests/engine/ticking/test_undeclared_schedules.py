"""Schedules that code declared once and no longer declares are named, and removed if wanted."""

from __future__ import annotations

import pytest

from drumbeat import Drumbeat, every
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.events import SchedulesUndeclared
from tests.engine.support.fleet import Fleet, Heard


def app_with(fleet: Fleet, *declared: str, declared_only: bool = False) -> Drumbeat:
    app = fleet.app(declared_only=declared_only)

    @app.task
    async def report() -> None: ...

    for name in declared:
        app.schedule(report, every(hours=1), name=name)
    return app


async def names(app: Drumbeat) -> list[str]:
    return [stored.name for stored in (await app.schedules.list()).items]


async def test_a_node_names_the_schedules_that_its_code_no_longer_declares(fleet: Fleet) -> None:
    app = app_with(fleet, "daily", "weekly")
    heard = Heard(app)
    async with fleet.running(app):
        await app.schedules.put("by-hand", every(hours=1), "report")
        await fleet.clock.advance(5)
        assert heard.of(SchedulesUndeclared) == []
    later = app_with(fleet, "daily")
    heard = Heard(later)
    async with fleet.running(later):
        await fleet.clock.advance(2 * 3600)
        assert heard.of(SchedulesUndeclared) == [SchedulesUndeclared(("weekly",), 1)], "told once"
        assert await names(later) == ["by-hand", "daily", "weekly"]
        await later.schedules.remove("weekly")
        await fleet.clock.advance(3601)
        assert heard.of(SchedulesUndeclared)[1:] == [SchedulesUndeclared((), 0)]


async def test_a_schedule_that_a_person_edited_is_the_persons(fleet: Fleet) -> None:
    async with fleet.running(app := app_with(fleet, "weekly")):
        await app.schedules.put("weekly", every(hours=2), "report")
    later = app_with(fleet, declared_only=True)
    heard = Heard(later)
    async with fleet.running(later):
        await fleet.clock.advance(5)
        assert heard.of(SchedulesUndeclared) == []
        assert await names(later) == ["weekly"]


async def test_with_declared_only_a_node_removes_them_when_it_starts(fleet: Fleet) -> None:
    other = fleet.app()

    @other.scheduled(every(hours=1))
    async def of_another_app() -> None: ...

    async with fleet.running(app_with(fleet, "daily", "weekly")), fleet.running(other):
        await fleet.clock.advance(5)
    later = app_with(fleet, "daily", declared_only=True)
    async with fleet.running(later):
        await later.schedules.put("by-hand", every(hours=1), "report")
        await fleet.clock.advance(5)
        assert await names(later) == ["by-hand", "daily", "of_another_app"]
        with pytest.raises(UnknownSchedule):
            await later.schedules.get("weekly")
