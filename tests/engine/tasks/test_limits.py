"""Limits as code declares them: for each key, shared by tasks, and what a reached one means."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from drumbeat import Drumbeat, Job, Status, every, rate_limit
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.model.errors import InvalidOption
from drumbeat.model.events import JobConflicted, JobExcluded, JobSkipped
from drumbeat.model.jobs.job import Limit, OnConflict, Rate
from tests.engine.support.fleet import Fleet, Heard

MINUTE = timedelta(minutes=1)


def nothing(customer: str = "") -> None: ...


async def test_a_rate_counts_for_each_key(fleet: Fleet, app: Drumbeat) -> None:
    starts: dict[str, list[float]] = {"ann": [], "bob": []}

    @app.task(rate_limit=rate_limit("2/m", key="{customer}"))
    async def call(customer: str, number: int) -> None:
        starts[customer].append(fleet.clock.elapsed())

    async with fleet.running(app):
        begun = fleet.clock.elapsed()
        jobs = await call.submit_many([("ann", 1), ("ann", 2), ("ann", 3), ("bob", 1), ("bob", 2)])
        await fleet.clock.until(app.wait_until_idle(), "2m")
    assert [job.spec.rate for job in jobs[2:4]] == [
        Rate("key:call:ann", 2, MINUTE),
        Rate("key:call:bob", 2, MINUTE),
    ]
    assert [round(at - begun) for at in starts["ann"]] == [0, 0, 60]
    assert [round(at - begun) for at in starts["bob"]] == [0, 0]


async def test_tasks_share_a_limit_by_its_name(fleet: Fleet, app: Drumbeat) -> None:
    running: list[str] = []
    most: list[int] = []
    app.limit("mail", concurrency=2, rate="3/m")

    async def send(name: str) -> None:
        running.append(name)
        most.append(len(running))
        await fleet.clock.sleep(1)
        running.remove(name)

    @app.task(limits=("mail",))
    async def receipt() -> None:
        await send("receipt")

    @app.task(limits=("mail",), concurrency=1)
    async def letter() -> None:
        await send("letter")

    async with fleet.running(app):
        jobs = [await task.submit() for task in (receipt, letter, receipt, letter)]
        await fleet.clock.advance("30s")
        ended = [(await app.jobs.get(job.id)).status for job in jobs]
        assert sorted(ended) == ["completed", "completed", "completed", "queued"]
        await fleet.clock.until(app.wait_until_idle(), "2m")
    assert max(most) == 2
    shared = Limit("limit:mail", 2), Rate("limit:mail", 3, MINUTE)
    assert [(job.spec.limits, job.spec.rate) for job in jobs[:2]] == [
        ((shared[0],), shared[1]),
        ((Limit("task:letter", 1), shared[0]), shared[1]),
    ]


async def test_a_job_that_finds_a_limit_reached_is_cancelled_if_its_task_says_so(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    app.limit("one", concurrency=1, on_conflict="cancel")

    async def hold(name: str = "") -> None:
        await fleet.clock.sleep(5)

    options: list[dict[str, Any]] = [
        {"concurrency": 1, "on_conflict": "cancel"},
        {"key": "{name}", "on_conflict": "cancel"},
        {"limits": ("one",)},
        {"exclusive": "it"},
    ]
    waiting: list[dict[str, Any]] = [
        {"concurrency": 1},
        {"key": "{name}"},
        {"exclusive": "that", "on_conflict": "wait"},
    ]
    tasks = [app.task(name=str(n), **each)(hold) for n, each in enumerate([*options, *waiting])]
    async with fleet.running(app):
        jobs: list[Job] = []
        for task in tasks:
            jobs.append(await task.submit())
            await fleet.clock.advance(0.1)
            jobs.append(await task.submit())
        await fleet.clock.until(app.wait_until_idle(), "1m")
        ended = [(await app.jobs.get(job.id)).status for job in jobs]
    done, cancelled = Status.COMPLETED, Status.CANCELLED
    assert ended == [done, cancelled] * len(options) + [done, done] * len(waiting)
    assert len(heard.of(JobConflicted)) == len(options)


async def test_a_job_that_finds_a_limit_reached_is_skipped_if_its_task_says_so(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    app.limit("one", concurrency=1, on_conflict="skip")

    async def hold(name: str = "") -> None:
        await fleet.clock.sleep(5)

    options: list[dict[str, Any]] = [
        {"concurrency": 1, "on_conflict": "skip"},
        {"key": "{name}", "on_conflict": "skip"},
        {"limits": ("one",)},
        {"exclusive": "it", "on_conflict": "skip"},
    ]
    tasks = [app.task(name=str(n), **each)(hold) for n, each in enumerate(options)]
    async with fleet.running(app):
        for task in tasks:
            first = await task.submit()
            await fleet.clock.advance(0.1)
            second = await task.submit()
            await fleet.clock.until(app.wait_until_idle(), "1m")
            assert (await app.jobs.get(first.id)).status is Status.COMPLETED
            assert (await app.jobs.get(second.id)).was_skipped
    assert [event.name for event in heard.of(JobSkipped)] == ["0", "1:", "one", "it"]
    assert heard.of(JobExcluded) == []


def test_what_a_reached_limit_means_unless_a_task_says_it(app: Drumbeat) -> None:
    task = app.task(concurrency=1, key="{customer}", exclusive="x")(nothing)
    answers = [limit.on_conflict for limit in task.job("ann").limits]
    assert answers == [OnConflict.WAIT, OnConflict.WAIT, OnConflict.CANCEL]


REFUSED: list[tuple[Callable[[Any], object], str]] = [
    (lambda app: app.limit("x"), "a limit needs a name, and concurrency or rate"),
    (lambda app: app.limit("", concurrency=1), "a limit needs a name"),
    (lambda app: app.limit("x", concurrency=0), "concurrency of limit 'x'.*at least 1, not 0"),
    (lambda app: app.limit("x", rate="often"), "a rate must look like .* not 'often'"),
    (
        lambda app: app.limit("x", concurrency=1, on_conflict="drop"),
        "on_conflict must be 'wait', 'skip' or 'cancel', not 'drop'",
    ),
    (
        lambda app: app.limit("mail", concurrency=7),
        "another limit named 'mail' is declared already",
    ),
    (
        lambda app: app.task(limits=("mial",))(nothing),
        "limits names 'mial', which app.limit has not declared before; declared: mail",
    ),
    (
        lambda app: app.task(limits="mail")(nothing),
        "limits must be a tuple of names, not 'mail'",
    ),
    (
        lambda app: app.task(limits=("mail",), rate_limit="5/s")(nothing),
        r"task 'nothing' has several rates \(limit:mail, task:nothing\), and a job can have",
    ),
    (lambda app: rate_limit("often", key="{a}"), "a rate must look like"),
    (
        lambda app: app.task(rate_limit=rate_limit("5/s", key="{custmer}"))(nothing),
        "rate_limit '{custmer}' of task 'nothing' names 'custmer'.*it takes customer",
    ),
    (lambda app: app.task(rate_limit=5)(nothing), "a rate must look like '100/m'.*not 5"),
    (
        lambda app: app.task(name="m", limits=("mail",))(nothing).options(limits=()),
        "limits belongs to the task",
    ),
    (
        lambda app: app.schedule(app.task(nothing), every(minutes=1), limits=("mail",)),
        "limits belongs to the task",
    ),
]


@pytest.mark.parametrize(("declare", "sentence"), REFUSED)
def test_what_cannot_be_a_limit_is_refused(
    app: Drumbeat, declare: Callable[[Any], Any], sentence: str
) -> None:
    mail = app.limit("mail", concurrency=5, rate="100/m")
    assert app.limit("mail", concurrency=5, rate="100/m") == mail, "the same again is no other"
    with pytest.raises(InvalidOption, match=sentence):
        declare(app)


async def test_a_limit_of_one_call_cannot_be_named(app: Drumbeat) -> None:
    app.limit("mail", concurrency=5)
    app.task(nothing)
    async with app.connected():
        with pytest.raises(InvalidOption, match="limits names 'mail'"):
            await app.jobs.submit("nothing", options=TaskOptions(limits=("mail",)))
