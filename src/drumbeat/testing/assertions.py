"""Assertions about what was submitted and what fired; a failure shows what did instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

import msgspec

from drumbeat.app import Drumbeat
from drumbeat.engine.tasks.handle import Task
from drumbeat.model.jobs.job import Job, JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import Outcome, TickRecord
from drumbeat.model.text import counted
from drumbeat.model.time.instant import aware
from drumbeat.testing import inside

MOST_LINES = 20


class Filters(TypedDict, total=False):
    """Which jobs are meant, by the fields of `JobFilter`."""

    statuses: frozenset[Status]
    queue: str | None
    schedule: str | None
    tag: str | None
    created_from: datetime | None
    created_to: datetime | None
    expired: bool
    skipped: bool


async def submitted(
    app: Drumbeat, task: Task[..., Any] | str | None = None, **filters: Unpack[Filters]
) -> list[Job]:
    """The jobs in the app's store, by a schedule's ticks too, oldest first."""
    wanted = JobFilter(task=None if task is None else _name(task), **filters)
    jobs: list[Job] = []
    after: str | None = None
    while True:
        page = await app.jobs.list(wanted, PageRequest(LARGEST_PAGE, after))
        jobs += page.items
        after = page.next
        if after is None:
            return jobs[::-1]


async def assert_submitted(
    app: Drumbeat,
    task: Task[..., Any] | str,
    /,
    *args: Any,
    times: int | None = None,
    **kwargs: Any,
) -> list[Job]:
    """Assert that the task was submitted with these arguments, and return its jobs.

    Arguments are compared as they are stored, so what equals as JSON is equal. Without any, all
    jobs of the task count. `times` says how often exactly; else once is enough.
    """
    jobs = await submitted(app, task)
    matching = _matching(app, task, jobs, args, kwargs)
    if len(matching) == times or (times is None and matching):
        return matching
    wanted = "at least once" if times is None else counted(times, "time")
    raise AssertionError(
        f"{_call(app, task, args, kwargs)} should have been submitted {wanted}, "
        f"but was {counted(len(matching), 'time')}.\n{await _instead(app, task, jobs)}"
    )


async def assert_not_submitted(
    app: Drumbeat, task: Task[..., Any] | str, /, *args: Any, **kwargs: Any
) -> None:
    """Assert that the task was never submitted with these arguments; without any, not at all."""
    await assert_submitted(app, task, *args, times=0, **kwargs)


async def assert_fired(app: Drumbeat, schedule: str, tick_at: datetime) -> TickRecord:
    """Assert that the ledger has this tick as fired, and return its row."""
    tick = aware("tick_at", tick_at)
    page = await app.schedules.ticks(schedule, PageRequest(LARGEST_PAGE))
    for row in page.items:
        if row.tick_at == tick and row.outcome is Outcome.FIRED:
            return row
    raise AssertionError(
        f"tick {tick.isoformat()} of schedule {schedule!r} should have fired.\n"
        + _lines("Its ledger, latest first", [_row(row) for row in page.items])
    )


def _name(task: Task[..., Any] | str) -> str:
    return task if isinstance(task, str) else task.name


def _matching(
    app: Drumbeat,
    task: Task[..., Any] | str,
    jobs: Sequence[Job],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> list[Job]:
    codec = inside.setup(app).registry.get(_name(task)).codec  # a task that nobody knows: a typo
    if not args and not kwargs:
        return list(jobs)
    wanted = _parsed(codec.encode(args, kwargs))
    return [job for job in jobs if _parsed(job.spec.arguments) == wanted]


def _parsed(arguments: bytes) -> Any:
    return msgspec.json.decode(arguments)


def _call(
    app: Drumbeat, task: Task[..., Any] | str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    if not args and not kwargs:
        return _name(task)
    codec = inside.setup(app).registry.get(_name(task)).codec
    return _shown(_name(task), codec.encode(args, kwargs))


def _shown(task: str, arguments: bytes) -> str:
    named = _parsed(arguments)
    return f"{task}({', '.join(f'{name}={value!r}' for name, value in named.items())})"


async def _instead(app: Drumbeat, task: Task[..., Any] | str, jobs: Sequence[Job]) -> str:
    if jobs:
        return _lines(f"Jobs of {_name(task)}", [_job(job) for job in jobs])
    return _lines(
        f"No job of {_name(task)} was submitted; all jobs",
        [_job(job) for job in await submitted(app)],
    )


def _job(job: Job) -> str:
    return f"{_shown(job.task, job.spec.arguments)} is {job.status.value}"


def _row(row: TickRecord) -> str:
    until = f" to {row.through.isoformat()}" if row.count > 1 else ""
    why = f" ({row.reason.value})" if row.reason else ""
    return f"{row.tick_at.isoformat()}{until} {row.outcome.value}{why}"


def _lines(title: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    shown = [f"  {line}" for line in listed[:MOST_LINES]] or ["  none"]
    if len(listed) > MOST_LINES:
        shown.append(f"  and {len(listed) - MOST_LINES} more")
    return "\n".join([f"{title}:", *shown])
