"""A process that does what it is told on a SQLite file, the moment it is told.

`python sqlite_racer.py NAME`; it reads and says one line of JSON at a time.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.coordinator import coordinator as coordinators
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.backends.sqlite.store import store as stores
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fleet.lease import SCHEDULER, Epoch
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Change, Hold, Inserted, JobSpec, Settlement
from drumbeat.model.schedules.plan import Edit
from drumbeat.testing.conformance.builders import after, edited, lease, plan, schedule, wanted


class Racer:
    """One process among several."""

    store: SqliteStore
    coordinator: SqliteCoordinator

    def __init__(self, name: str) -> None:
        self.me = NodeId(name)

    async def open(self, path: str) -> object:
        self.store = SqliteStore(Path(path), SystemClock())
        self.coordinator = SqliteCoordinator(Path(path), SystemClock())
        await self.store.open()
        await self.coordinator.open()
        return "ready"

    async def close(self) -> object:
        await self.coordinator.close()
        await self.store.close()
        return "closed"

    async def acquire(self, name: str) -> object:
        ttl = timedelta(hours=1)
        granted = await self.coordinator.leases.acquire(name, self.me, ttl)
        return granted and granted.token

    async def claim(self, token: int) -> object:
        claimed = await self.store.fence.claim(lease(token, holder=self.me))
        return claimed.number if isinstance(claimed, Epoch) else None

    async def commit(self, name: str, epoch: int) -> object:
        plans = [plan(schedule(name))]
        (verdict,) = await self.store.schedules.commit(plans, Epoch(SCHEDULER, epoch), after(1))
        return type(verdict).__name__

    async def edit(self, name: str) -> object:
        stored = schedule(name)
        (verdict,) = await self.store.schedules.put([Edit(stored, edited(stored))], after(1))
        return type(verdict).__name__

    async def insert(self, key: str) -> object:
        (verdict,) = await self.store.jobs.insert([JobSpec("send", dedupe_key=key)])
        return [verdict.job.id, isinstance(verdict, Inserted)]

    async def take(self, limit: int) -> object:
        taken = await self.store.jobs.take(wanted(limit), self.me)
        return [[each.job_id, each.hold.fence] for each in taken.attempts]

    async def settle(self, job: int, fence: int, change: str) -> object:
        done = Settlement(Hold(JobId(job), fence), Change(change))
        (verdict,) = await self.store.jobs.settle([done])
        return type(verdict).__name__

    async def cancel(self, job: int) -> object:
        (verdict,) = await self.store.jobs.cancel([JobId(job)], "enough")
        return type(verdict).__name__


async def main(name: str) -> None:
    racer = Racer(name)
    for line in sys.stdin:
        act, *arguments = json.loads(line)
        perform: Callable[..., Awaitable[Any]] = getattr(racer, act)
        say(await perform(*arguments))


def say(word: object) -> None:
    sys.stdout.write(f"{json.dumps(word)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    # Whoever has the file may be held up by a busy machine, and is waited for.
    stores.PATIENCE = coordinators.PATIENCE = 60.0
    asyncio.run(main(sys.argv[1]))
