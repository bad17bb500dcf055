"""What an app says once: options of all tasks, and the zone of triggers without one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest

from drumbeat import (
    Calendar,
    Context,
    Drumbeat,
    JobSpec,
    Retry,
    Schedule,
    ScheduledTask,
    Trigger,
    any_of,
    cron,
    daily,
    every,
    monthly,
    weekly,
)
from drumbeat.model.errors import ConfigurationError, InvalidOption
from drumbeat.model.triggers.trigger import trigger_from_json
from drumbeat.wire.new_schedule import ScheduleChangesView, ScheduleDefinitionView
from drumbeat.wire.requests import request

TOKYO, PARIS = "Asia/Tokyo", "Europe/Paris"


@pytest.fixture
async def app() -> AsyncIterator[Drumbeat]:
    app = Drumbeat("memory://", environment={}, tz=TOKYO)
    async with app.connected():
        yield app


async def test_a_task_has_the_options_of_its_app_unless_it_says_otherwise() -> None:
    app = Drumbeat(
        "memory://",
        environment={},
        task_defaults={
            "queue": "mail",
            "retry": Retry.delays("5s").never_on(OSError),
            "timeout": 9,
        },
    )

    @app.task
    async def usual() -> None: ...

    @app.task(queue="own", retry=Retry.never())
    async def own() -> None: ...

    @app.scheduled(every(minutes=1), timeout=7)
    async def often() -> None: ...

    class Nightly(ScheduledTask):
        name = "nightly"
        schedule = "0 2 * * *"

        async def execute(self, ctx: Context) -> None: ...

    app.register(Nightly())
    async with app.connected():
        specs = [(await task.submit()).spec for task in (usual, own, often)]
        specs.append((await app.jobs.submit("nightly")).spec)
    assert [spec.queue for spec in specs] == ["mail", "own", "mail", "mail"]
    assert [spec.timeout for spec in specs] == [9, 9, 7, 9]
    given = Retry.delays("5s")
    assert [spec.retry for spec in specs] == [given, Retry.never(), given, given]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"task_defaults": {"qeue": "x"}}, "task_defaults: unknown option 'qeue'"),
        ({"task_defaults": {"priority": 200}}, "task_defaults: priority must lie between 0 and"),
        ({"tz": "Paris"}, "tz: .*'Paris'"),
        ({"tz": 2}, "tz must be the name of a time zone, not 2"),
    ],
)
def test_what_cannot_be_a_default_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises((InvalidOption, ConfigurationError), match=sentence):
        Drumbeat("memory://", environment={}, **settings)


def test_the_environment_may_give_the_zone() -> None:
    assert Drumbeat("memory://", environment={"DRUMBEAT_TZ": PARIS}).settings.tz == PARIS


def combined(tz: str | None = None) -> Trigger:
    return any_of(every(hours=5), daily("02:30", tz=tz))


def excluding(tz: str | None = None) -> Trigger:
    return every(hours=5).excluding(Calendar(dates=["2026-12-25"], tz=tz))


@pytest.mark.parametrize(
    "write",
    [
        partial(cron, "30 2 * * *"),
        partial(daily, "02:30"),
        partial(weekly, "mon", "02:30"),
        partial(monthly, 1, "02:30"),
        combined,
        excluding,
    ],
)
async def test_a_trigger_without_a_zone_has_that_of_the_app(
    app: Drumbeat, write: Callable[..., Trigger]
) -> None:

    @app.task
    def work() -> None: ...

    assert write() == write(tz="UTC")
    assert trigger_from_json(write().to_json()) == write()
    for name, given, stored in (
        ("plain", write(), write(tz=TOKYO)),
        ("own", write(tz=PARIS), write(tz=PARIS)),
        ("utc", write(tz="UTC"), write(tz="UTC")),
    ):
        declared = app.schedule(work, given, name=name)
        assert declared.trigger == stored
        put = await app.schedules.put(f"{name}-put", given, "work")
        written = await app.schedules.write(Schedule(f"{name}-written", given, JobSpec("work")))
        over_http = request(
            ScheduleDefinitionView, {"task": "work", "when": given.to_json(), "args": {}}
        )
        view = (await app.fleet.schedules.replace(f"{name}-http", over_http)).view
        kept = (put.schedule.trigger, written.schedule.trigger, trigger_from_json(view.trigger))
        assert {each.without_anchor().describe() for each in kept} == {stored.describe()}


async def test_a_cron_string_without_a_zone_has_that_of_the_app(app: Drumbeat) -> None:
    @app.scheduled("0 2 * * *")
    def work() -> None: ...

    assert app.schedule(work, "CRON_TZ=Europe/Paris 0 3 * * *", name="paris").trigger == cron(
        "0 3 * * *", tz=PARIS
    )
    stored = await app.schedules.put("late", "0 3 * * *", work)
    assert stored.schedule.trigger == cron("0 3 * * *", tz=TOKYO)
    preview = await app.fleet.schedules.preview_rule("0 2 * * *")
    assert preview.tz == TOKYO
    assert (await app.fleet.schedules.preview_rule("0 2 * * *", PARIS)).tz == PARIS
    await app.schedules.put("paris", cron("0 3 * * *", tz=PARIS), work)
    for changes in ({"when": "0 4 * * *"}, {"priority": 3}):
        await app.fleet.schedules.patch("paris", request(ScheduleChangesView, changes))
    assert (await app.schedules.get("paris")).schedule.trigger == cron("0 4 * * *", tz=PARIS)
