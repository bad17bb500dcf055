"""A renamed task runs what was stored under its earlier names."""

from __future__ import annotations

from typing import Any

import pytest

from drumbeat import Drumbeat, JobSpec, Status, Task, every
from drumbeat.model.errors import DuplicateTask, InvalidOption
from drumbeat.model.events import SchedulesUnknown, TaskUnknown
from drumbeat.testing import drain
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.requests import request
from tests.engine.support.fleet import Fleet, Heard


def nothing() -> None: ...


def renamed(app: Drumbeat) -> Task[..., Any]:
    @app.task(aliases=("old", "older"), secret=("password",), key="{user}")
    async def new(user: str, password: str = "") -> str:
        return user

    return new


async def test_jobs_and_schedules_of_an_earlier_name_run_the_renamed_task(fleet: Fleet) -> None:
    before = fleet.app()

    @before.task(name="old")
    async def old(user: str) -> None: ...

    async with before.connected():
        jobs = [await old.submit("ann"), await before.submit(JobSpec("older", b'{"user":"bob"}'))]
        await before.schedules.put("hourly", every(hours=1), old, args=("cat",))
    after = fleet.app()
    heard = Heard(after)
    new = renamed(after)
    async with fleet.running(after):
        await fleet.clock.advance("2h")
        ended = [await after.jobs.get(job.id) for job in jobs]
        assert [(job.status, new.result(job)) for job in ended] == [
            (Status.COMPLETED, "ann"),
            (Status.COMPLETED, "bob"),
        ]
        assert await after.jobs.result(jobs[0].id) == "ann"
        last = (await after.schedules.get("hourly")).last_job
        assert last is not None
        ticked = await after.jobs.get(last)
        assert (ticked.task, ticked.status) == ("old", Status.COMPLETED)
        triggered = await after.schedules.trigger("hourly", ("dan",))
        assert triggered.spec.arguments == b'{"user":"dan"}'
        assert [limit.key for limit in triggered.spec.limits] == ["key:new:dan"]
    assert heard.of(TaskUnknown) == []
    assert heard.of(SchedulesUnknown) == []


async def test_an_earlier_name_is_known_wherever_a_task_is_named(app: Drumbeat) -> None:
    new = renamed(app)
    async with app.connected():
        assert app.task_named("old").name == "new"
        assert (await app.jobs.submit("old", ("ann",))).task == "new"
        asked = request(NewJobView, {"task": "older", "args": {"user": "a", "password": "p"}})
        view = (await app.fleet.jobs.create(asked)).view
        assert (view.task, b"redacted" in bytes(view.arguments)) == ("new", True)
        stored = await app.submit(JobSpec("old", b'{"user":"a","password":"p"}'))
        assert b"redacted" in bytes((await app.fleet.jobs.get(stored.id)).arguments)
        await app.schedules.put("daily", "@daily", "old", args=("ann",))
        (task,) = await app.fleet.tasks()
        assert (task.name, task.aliases) == ("new", ("old", "older"))
        assert app.tasks == {"new"}
        assert task.names == ("new", "old", "older")
        await drain(app)
        assert new.result(await app.jobs.get(stored.id)) == "a"


def test_an_alias_is_a_name_that_no_other_task_has(app: Drumbeat) -> None:
    renamed(app)

    def work() -> None: ...

    with pytest.raises(DuplicateTask, match="'old'"):
        app.task(name="old")(work)
    with pytest.raises(DuplicateTask, match="'older'"):
        app.task(aliases=("fresh", "older"))(work)
    with pytest.raises(DuplicateTask, match="'new'"):
        app.task(aliases=("new",))(work)
    with pytest.raises(DuplicateTask, match="'work'"):
        app.task(aliases=("work",))(work)
    with pytest.raises(InvalidOption, match=r"alias of task 'work'.*'drumbeat\.mine'"):
        app.task(aliases=("drumbeat.mine",))(work)
    with pytest.raises(InvalidOption, match="aliases must be a tuple of names, not 'old'"):
        app.task(aliases="old")(work)  # type: ignore[call-overload]  # as callers without types
    with pytest.raises(InvalidOption, match="task_defaults: aliases belong to one task"):
        Drumbeat("memory://", task_defaults={"aliases": ("x",)})
    with pytest.raises(InvalidOption, match="aliases belongs to the task"):
        app.task_named("new").options(aliases=("x",))
    assert app.tasks == {"new"}
    app.task(work)


async def test_the_schedule_of_a_renamed_task_that_code_no_longer_declares_is_told(
    fleet: Fleet,
) -> None:
    before = fleet.app()
    before.scheduled(every(hours=1), name="old")(nothing)
    async with fleet.running(before):
        pass
    after = fleet.app()
    after.scheduled(every(hours=1), name="new", aliases=("old",))(nothing)
    async with fleet.running(after):
        views = [await after.fleet.schedules.get(name) for name in ("old", "new")]
        assert [view.undeclared for view in views] == [True, False]
