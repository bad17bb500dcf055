"""A worker runs the jobs that its tickets name without a claim in the store, so a ticket that comes
twice or late runs a job twice.
"""

# pyright: reportPrivateUsage=false

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from drumbeat.engine.plumbing.watched_queue import WatchedQueue
from drumbeat.engine.working.pools import ExecutionPool
from drumbeat.engine.working.worker import Worker
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Attempt, Settlement, Taken, Ticket
from drumbeat.rules.jobs.prefetch_limit import Ask

CAUGHT_BY = {"S14"}
FOUND_AT = 9
TICKETS: dict[NodeId, Sequence[Ticket]] = {}

take, receive = Worker._take, WatchedQueue.receive


async def noted(
    self: WatchedQueue, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
) -> Sequence[Ticket]:
    TICKETS[by] = await receive(self, queues, by, limit, done)
    return TICKETS[by]


async def trusting(
    self: Worker, pool: ExecutionPool, ask: Ask, settled: Sequence[Settlement]
) -> Taken:
    taken = await take(self, pool, ask, settled)
    tickets = TICKETS.pop(self._parts.node, ())
    if not ask.total or not tickets:
        return taken
    claimed = {attempt.job_id for attempt in taken.attempts}
    named = [ticket.job_id for ticket in tickets if ticket.job_id not in claimed]
    now = self._runtime.clock.now()
    trusted = [
        Attempt(job.hold, job.attempt, job.spec, self._parts.node, now, job.created_at)
        for job in await self._jobs.get(named)
        if job is not None
    ]
    room = max(0, ask.total - len(taken.attempts))
    return replace(taken, attempts=(*taken.attempts, *trusted[:room]))


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Worker, "_take", trusting), patch.object(WatchedQueue, "receive", noted):
        yield
