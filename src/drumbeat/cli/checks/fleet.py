"""Checks of the fleet: its store or server, clock, nodes, jobs, schedules and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from drumbeat.app import Drumbeat
from drumbeat.cli.checks.machine import Check
from drumbeat.cli.options.limit import first
from drumbeat.cli.output.output import Output
from drumbeat.engine.tasks.task import BUILT_IN
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.text import counted
from drumbeat.ports.advice import advice_of
from drumbeat.ports.migrations import Migrating
from drumbeat.rules.human_time import short
from drumbeat.rules.schedules.overdue import overdue
from drumbeat.wire.job import JobView
from drumbeat.wire.node import NodeView

MOST_SKEW = timedelta(seconds=5)
LONG = timedelta(minutes=5)
"""How long a job may be queued before it counts as stuck."""
LOOKED_AT = 1_000
NAMED = 5


async def fleet_checks(fleet: Fleet, output: Output) -> list[Check]:
    """The checks that any fleet can answer."""
    skew = abs(await fleet.now() - output.now)
    nodes = await fleet.nodes.list()
    return [
        Check("clock", skew < MOST_SKEW, f"{short(skew)} away from the store's"),
        await leader_check(fleet),
        _nodes(nodes),
        await _running(fleet, nodes),
        await _queued(fleet),
        await _schedules(fleet),
    ]


async def leader_check(fleet: Fleet) -> Check:
    """Whether a node leads."""
    try:
        leader = (await fleet.elections.get()).leader
    except Unavailable as error:
        return Check("coordinator", ok=False, found=str(error))
    if leader is None:
        return Check("leader", ok=False, found="nobody leads; start a node that schedules")
    return Check("leader", ok=True, found=leader)


def _nodes(nodes: Sequence[NodeView]) -> Check:
    working = sum(Role.WORKER in node.roles for node in nodes)
    scheduling = sum(Role.SCHEDULER in node.roles for node in nodes)
    found = f"{len(nodes)} alive: {scheduling} can schedule, {working} can work"
    return Check("nodes", bool(working and scheduling), found)


async def _running(fleet: Fleet, nodes: Sequence[NodeView]) -> Check:
    alive = {node.id for node in nodes}
    running = JobFilter(statuses=frozenset({Status.RUNNING}))
    jobs, _ = await first(LOOKED_AT, lambda page: fleet.jobs.list(running, page))
    lost = [job for job in jobs if job.node not in alive]
    return Check("running jobs", not lost, _counted(lost, "held by dead nodes", len(jobs)))


async def _queued(fleet: Fleet) -> Check:
    now = await fleet.now()
    queued = JobFilter(statuses=frozenset({Status.QUEUED}))
    old = replace(queued, created_to=now - LONG)  # however many jobs were created since
    jobs, _ = await first(LOOKED_AT, lambda page: fleet.jobs.list(queued, page))
    aged, _ = await first(LOOKED_AT, lambda page: fleet.jobs.list(old, page))
    stuck = [job for job in aged if now - job.run_at > LONG]
    words = f"queued for over {short(LONG)}"
    return Check("queued jobs", not stuck, _counted(stuck, words, len(jobs)))


def _counted(faulty: list[JobView], words: str, of: int) -> str:
    if not faulty:
        return f"{of} of them, none stuck"
    ids = ", ".join(str(job.id) for job in faulty[:NAMED])
    more = ", ..." if len(faulty) > NAMED else ""
    return f"{len(faulty)} {words}: {ids}{more}"


async def _schedules(fleet: Fleet) -> Check:
    now = await fleet.now()
    schedules, _ = await first(LOOKED_AT, fleet.schedules.list)
    late = [
        schedule.name
        for schedule in schedules
        if overdue(schedule.next_tick, now, paused=schedule.paused) is not None
    ]
    names = ", ".join(late[:NAMED]) + (", ..." if len(late) > NAMED else "")
    found = f"{len(late)} overdue: {names}" if late else f"{len(schedules)} of them, none overdue"
    return Check("schedules", not late, found)


def _task_check(unknown: Sequence[str]) -> Check:
    """Whether the tasks of all waiting jobs are known."""
    found = f"unknown here: {', '.join(unknown)}" if unknown else "all that wait are known"
    return Check("tasks", not unknown, found)


async def store_checks(app: Drumbeat) -> list[Check]:
    """Whether the store answers; it was not opened if its schema is not that of this version."""
    await app.store.now()
    store = Check("store", ok=True, found=f"{app.settings.shown('store')} answers")
    checks = [store, *await _queue_checks(app)]
    if isinstance(app.store, Migrating):
        checks += [Check("schema", ok=True, found="up to date"), _witnesses(app)]
    advice = advice_of(app.store, app.fleet.services.coordinator)
    return [*checks, *(Check("advice", ok=True, found=each) for each in advice)]


async def _queue_checks(app: Drumbeat) -> list[Check]:
    """Whether the queue answers, if there is one in front of the store."""
    if not app.queue.carries:
        return []
    try:
        tickets = await app.queue.count()
    except Unavailable as error:
        return [Check("queue", ok=False, found=str(error))]
    found = f"{app.settings.shown('queue')} answers, {counted(tickets, 'ticket')}"
    return [Check("queue", ok=True, found=found)]


def _witnesses(app: Drumbeat) -> Check:
    """How soon the death of a process is noticed; none is a property of the store, and no error."""
    found = "the death of a process is noticed at once"
    if app.store.witnesses is None:
        found = "none: the death of a process is noticed when its lease or heartbeat ends"
    return Check("witnesses", ok=True, found=found)


async def app_task_checks(app: Drumbeat) -> list[Check]:
    """Whether the app knows the tasks of all waiting jobs; an app without tasks is not checked."""
    if not app.tasks:
        return []
    queues = tuple(await app.jobs.counts())
    return [_task_check(await app.store.jobs.unknown_tasks(queues, app.tasks, NAMED))]


async def server_check(fleet: Fleet, url: str) -> Check:
    """Whether the server answers and is healthy."""
    health = await fleet.health()
    ok = health.status == "healthy"
    why = "" if ok else f": {health.reason}"
    return Check("server", ok, f"{health.instance_id} answers at {url}, {health.status}{why}")


async def server_task_checks(fleet: Fleet) -> list[Check]:
    """Whether the server knows the tasks of the newest thousand queued jobs."""
    known = {name for task in await fleet.tasks() for name in task.names}
    if not known:
        return []
    queued = JobFilter(statuses=frozenset({Status.QUEUED}))
    waiting = (await fleet.jobs.list(queued, PageRequest(LARGEST_PAGE))).items
    unknown = {job.task for job in waiting if not job.task.startswith(BUILT_IN)} - known
    return [_task_check(sorted(unknown)[:NAMED])]
