"""Why a job that somebody waits for has not started yet, as far as the fleet can tell."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.engine.tasks.task import BUILT_IN
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import UnknownQueue
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Status
from drumbeat.rules.human_time import Moments
from drumbeat.rules.jobs.waiting import why_not_started, workers_of
from drumbeat.wire.job import JobView
from drumbeat.wire.queue import PausedView

SOON = timedelta(seconds=3)
"""How long a job may wait for a worker that has room before that is remarkable."""


async def waiting_reason(fleet: Fleet, job: JobView, moments: Moments) -> str | None:
    """Why the job waits; None if nothing is known that keeps it from starting."""
    if job.task.startswith(BUILT_IN):  # the leading node runs it
        return None
    match job.status:
        case Status.PENDING:
            return await _pending(fleet, job, moments)
        case Status.QUEUED:
            return await _queued(fleet, job)
        case _:
            return None


async def _pending(fleet: Fleet, job: JobView, moments: Moments) -> str | None:
    now = await fleet.now()
    if job.run_at > now:
        return f"it may start at {moments.stamped(job.run_at)}"
    if now - job.run_at > SOON and (await fleet.elections.get()).leader is None:
        return "it is due, but nobody leads: start a node that schedules (`drumbeat scheduler APP`)"
    return None


async def _queued(fleet: Fleet, job: JobView) -> str | None:
    paused = await _paused(fleet, job.queue)
    if paused is not None:
        return f"the queue {job.queue!r} is paused ({paused.reason or 'no reason was given'})"
    nodes = [node for node in await fleet.nodes.list() if Role.WORKER in node.roles]
    if not nodes:
        return "no worker is alive: start one with `drumbeat worker APP`"
    workers = workers_of(job.queue, nodes)
    if not workers:
        served = ", ".join(sorted({queue for node in nodes for queue in node.queues}))
        return (
            f"no worker serves the queue {job.queue!r} (those alive serve {served}): start one "
            f"with `drumbeat worker APP --queues {job.queue}`"
        )
    if await fleet.now() - job.run_at > SOON:
        return why_not_started(job.task, workers)
    return None


async def _paused(fleet: Fleet, queue: str) -> PausedView | None:
    try:
        return (await fleet.queues.get(queue)).paused
    except UnknownQueue:
        return None
