"""The checks of `drumbeat doctor`: of this machine, of the store, of the fleet."""

from __future__ import annotations

import platform
import sqlite3
import sys
from dataclasses import dataclass, replace
from datetime import timedelta

from drumbeat.cli.asked import Asked
from drumbeat.cli.output import Output
from drumbeat.cli.pages import first
from drumbeat.cli.session import NOTHING_TO_SEE
from drumbeat.config import Sources, Survey
from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.model.job import Job, JobFilter, Status
from drumbeat.model.node import NodeRecord, Role
from drumbeat.model.zones import zone
from drumbeat.rules.moments import short
from drumbeat.version import VERSION

OLDEST_SQLITE = (3, 37, 0)
"""The first that has both RETURNING and STRICT tables."""
MOST_SKEW = timedelta(seconds=5)
LONG = timedelta(minutes=5)
"""How long a job may be queued before it counts as stuck."""
OVERDUE = timedelta(minutes=1)
LOOKED_AT = 1_000
NAMED = 5


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is in order, and what was seen."""

    name: str
    sound: bool
    seen: str


def machine_checks() -> list[Check]:
    """Whatever can be seen without a store."""
    return [_python(), _sqlite(), _zones(), _settings()]


async def store_checks(app: Asked, output: Output) -> list[Check]:
    """Whether the store answers; if it does, what it says of the fleet."""
    if app.in_memory:
        leader = [await _leader(app)] if app.has_coordinator else []
        return [Check("store", sound=True, seen=NOTHING_TO_SEE), *leader]
    try:
        checks = [*await app.checks()]
        skew = abs(await app.now() - output.now)
        checks.append(Check("clock", skew < MOST_SKEW, f"{short(skew)} away from the store's"))
        checks += await _fleet(app)
    except DrumbeatError as error:
        return [Check("store", sound=False, seen=str(error))]
    return checks


def _python() -> Check:
    sound = sys.version_info >= (3, 11)
    return Check("python", sound, f"{platform.python_version()}, Drumbeat {VERSION}")


def _sqlite() -> Check:
    sound = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    wanted = "" if sound else f"; {'.'.join(map(str, OLDEST_SQLITE))} is needed"
    return Check("sqlite", sound, f"{sqlite3.sqlite_version}{wanted}")


def _zones() -> Check:
    try:
        zone("Europe/Paris")
    except DrumbeatError as error:
        return Check("time zones", sound=False, seen=f"{error}; install the package tzdata")
    return Check("time zones", sound=True, seen="the IANA database is there")


def _settings() -> Check:
    survey = Survey.of(Sources.of_this_process({}))
    faults = [*survey.faults, *survey.unknown]
    return Check("settings", not faults, "; ".join(faults) or "all of them can be read")


async def _fleet(app: Asked) -> list[Check]:
    nodes = [record for record in await app.nodes() if record.alive]
    return [
        await _leader(app),
        _nodes(nodes),
        await _lost(app, nodes),
        await _waiting(app),
        await _schedules(app),
        *await _tasks(app),
    ]


async def _leader(app: Asked) -> Check:
    try:
        lease = await app.leadership.leader()
    except Unavailable as error:
        return Check("coordinator", sound=False, seen=str(error))
    if lease is None:
        return Check("leader", sound=False, seen="nobody leads; start a node that schedules")
    return Check("leader", sound=True, seen=lease.holder)


def _nodes(nodes: list[NodeRecord]) -> Check:
    working = sum(Role.WORKER in record.node.roles for record in nodes)
    scheduling = sum(Role.SCHEDULER in record.node.roles for record in nodes)
    seen = f"{len(nodes)} alive: {scheduling} can schedule, {working} can work"
    return Check("nodes", bool(working and scheduling), seen)


async def _lost(app: Asked, nodes: list[NodeRecord]) -> Check:
    alive = {record.node.id for record in nodes}
    running = JobFilter(statuses=frozenset({Status.RUNNING}))
    jobs, _ = await first(LOOKED_AT, lambda page: app.jobs.list(running, page))
    lost = [job for job in jobs if job.node not in alive]
    return Check("running jobs", not lost, _counted(lost, "held by dead nodes", len(jobs)))


async def _waiting(app: Asked) -> Check:
    now = await app.now()
    queued = JobFilter(statuses=frozenset({Status.QUEUED}))
    old = replace(queued, created_to=now - LONG)  # however many have come since
    jobs, _ = await first(LOOKED_AT, lambda page: app.jobs.list(queued, page))
    aged, _ = await first(LOOKED_AT, lambda page: app.jobs.list(old, page))
    stuck = [job for job in aged if now - job.run_at > LONG]
    words = f"queued for over {short(LONG)}"
    return Check("queued jobs", not stuck, _counted(stuck, words, len(jobs)))


def _counted(faulty: list[Job], words: str, of: int) -> str:
    if not faulty:
        return f"{of} of them, none stuck"
    ids = ", ".join(str(job.id) for job in faulty[:NAMED])
    more = ", ..." if len(faulty) > NAMED else ""
    return f"{len(faulty)} {words}: {ids}{more}"


async def _schedules(app: Asked) -> Check:
    now = await app.now()
    found, _ = await first(LOOKED_AT, app.schedules.list)
    late = [
        stored.name
        for stored in found
        if stored.next_tick and not stored.paused and now - stored.next_tick > OVERDUE
    ]
    names = ", ".join(late[:NAMED]) + (", ..." if len(late) > NAMED else "")
    seen = f"{len(late)} overdue: {names}" if late else f"{len(found)} of them, none overdue"
    return Check("schedules", not late, seen)


async def _tasks(app: Asked) -> list[Check]:
    """Only an app knows which tasks there are; a bare store does not."""
    unknown = await app.unknown_tasks(NAMED)
    if unknown is None:
        return []
    seen = f"unknown here: {', '.join(unknown)}" if unknown else "all that wait are known"
    return [Check("tasks", not unknown, seen)]
