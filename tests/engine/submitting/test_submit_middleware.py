# pyright: reportPrivateUsage=false
"""Submit middleware changes or refuses each job that is submitted, however it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import pytest

from drumbeat import Drumbeat, JobFilter, JobSpec, every
from drumbeat.engine.submitting.submissions import JoinedSubmissions
from drumbeat.model.errors import InvalidHook, OversizedArguments
from drumbeat.model.jobs.job import ARGUMENTS_LIMIT
from drumbeat.testing import drain, inline
from drumbeat.wire.new_job import NewJobView
from tests.engine.support.fleet import Fleet

TENANT: ContextVar[str] = ContextVar("tenant", default="nobody")


def tagged(app: Drumbeat) -> list[str]:
    """Tag all jobs with the tenant, and note their tasks."""
    seen: list[str] = []

    @app.submit_middleware
    def tag(spec: JobSpec) -> JobSpec:
        seen.append(spec.task)
        return replace(spec, tags=(*spec.tags, TENANT.get()))

    return seen


async def tags_of(app: Drumbeat) -> list[tuple[str, ...]]:
    return [job.spec.tags for job in (await app.jobs.list()).items]


async def test_every_way_to_submit_passes_it_once(app: Drumbeat) -> None:
    seen = tagged(app)

    @app.task
    async def work(number: int = 0) -> None: ...

    @app.scheduled(every(minutes=5))
    async def sweep() -> None: ...

    await app.schedules.declare(list(app._declared.values()))
    TENANT.set("acme")
    await work.submit(1)
    await work.submit_many([(1,), (2,)])
    await asyncio.to_thread(work.submit_sync, 3)
    await work.options(tags=("own",)).submit(4)
    await app.submit(JobSpec("elsewhere"))
    await app.jobs.submit("work")
    await app.jobs.submit_many("work", [()])
    await app.schedules.trigger("sweep")
    await app.fleet.jobs.create(NewJobView(task="work"))
    await app.fleet.jobs.create_many([NewJobView(task="work")])
    tags = await tags_of(app)
    assert len(tags) == len(seen) == 11
    assert sorted(set(tags)) == [("acme",), ("own", "acme")]


async def test_submissions_within_a_callers_transaction_pass_it(app: Drumbeat) -> None:
    tagged(app)
    inserted: list[JobSpec] = []

    class Insertions:
        def insertion(self, specs: Sequence[JobSpec]) -> Any:
            inserted.extend(specs)

        async def run(self, connection: object, insertion: Any) -> list[Any]:
            return []

    insertions: Any = Insertions()
    submissions = JoinedSubmissions(insertions, insertions, None, app._hooks)
    await submissions.submit_many([JobSpec("work")])
    assert [spec.tags for spec in inserted] == [("nobody",)]


async def test_ticks_and_our_own_tasks_do_not_pass_it(fleet: Fleet, app: Drumbeat) -> None:
    seen = tagged(app)

    @app.scheduled(every(minutes=5))
    async def sweep() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance(301)
        operation = await app.jobs.cancel_many(JobFilter(), everything=True)
        await fleet.clock.until(app.operations.wait(operation.id))
        assert (await app.jobs.list()).items
    assert not seen


async def test_they_run_in_order_and_inline_too(app: Drumbeat) -> None:
    ran: list[str] = []
    for word in ("first", "second"):

        @app.submit_middleware
        def tag(spec: JobSpec, word: str = word) -> JobSpec:
            return replace(spec, tags=(*spec.tags, word))

    @app.task
    async def work() -> None:
        ran.append("work")

    with inline(app):
        job = await work.submit()
    assert job.spec.tags == ("first", "second")
    await work.submit()
    await drain(app)
    assert ran == ["work", "work"]


async def test_one_that_raises_refuses_the_job_and_its_whole_batch(app: Drumbeat) -> None:
    @app.submit_middleware
    def refuse(spec: JobSpec) -> JobSpec:
        if b"2" in spec.arguments:
            raise PermissionError("not for you")
        return spec

    @app.task
    async def work(number: int) -> None: ...

    with pytest.raises(PermissionError, match="not for you"):
        await work.submit(2)
    with pytest.raises(PermissionError, match="not for you"):
        await work.submit_many([(1,), (2,)])
    assert not (await app.jobs.list()).items


async def returns_a_coroutine(spec: JobSpec) -> JobSpec:
    return spec


def takes_nothing() -> None: ...


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (returns_a_coroutine, "has to be a plain function"),
        (None, "submit_middleware needs a function"),
        (takes_nothing, r"has to take \(spec\)"),
    ],
)
def test_what_cannot_be_submit_middleware_is_refused(app: Drumbeat, wrong: Any, error: str) -> None:
    with pytest.raises(InvalidHook, match=error):
        app.submit_middleware(wrong)


def to_nothing(_spec: JobSpec) -> None: ...


def to_coroutine(spec: JobSpec) -> object:
    return returns_a_coroutine(spec)


def to_text(spec: JobSpec) -> JobSpec:
    return replace(spec, arguments="{}")  # type: ignore[arg-type]


def to_much(spec: JobSpec) -> JobSpec:
    return replace(spec, arguments=b" " * (ARGUMENTS_LIMIT + 1))


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (to_nothing, InvalidHook, "has to return a JobSpec with JSON as bytes, not None"),
        (to_coroutine, InvalidHook, "declare it with async def"),
        (to_text, InvalidHook, "JSON as bytes"),
        (to_much, OversizedArguments, "arguments of task 'work' take"),
    ],
)
@pytest.mark.filterwarnings("error")
async def test_one_that_returns_something_else_is_named(
    app: Drumbeat, wrong: Callable[[JobSpec], Any], error: type[Exception], text: str
) -> None:
    app.submit_middleware(wrong)

    @app.task
    async def work() -> None: ...

    for submit in (work.submit, lambda: work.submit_many([()])):
        with pytest.raises(error, match=text):
            await submit()
    assert not (await app.jobs.list()).items
