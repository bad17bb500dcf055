"""Run one update at a time over a fleet: exclusive tasks, locks with a token, bounded concurrency.

Two instances share a store. A tick submits a job while an earlier job still runs. The second job
finds the exclusive name taken and is cancelled with a warning; the ledger records its tick. The
update takes a lock, passes the lock's token to the service that it writes to, and updates a
thousand models with at most fifty concurrent calls.

    python examples/exclusive_update.py
    python examples/exclusive_update.py redis://localhost:6379
    COORDINATOR=etcd://localhost:2379 python examples/exclusive_update.py
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
from pathlib import Path

from drumbeat import Context, Drumbeat, Job, LockHeld, PageRequest, Status, bounded, every
from drumbeat.model.events import JobExcluded, JobSettled
from drumbeat.model.ids import JobId

MODELS = 1_000
AT_ONCE = 50
PATIENCE = 60.0


class ModelService:
    """The system that the task writes to. It rejects writes with an older token."""

    def __init__(self) -> None:
        self.highest = 0
        self.models: dict[int, int] = {}
        self.under_way = 0
        self.most_under_way = 0

    async def update(self, model: int, token: int) -> None:
        """Write one model, fenced by the token of the lock."""
        if token < self.highest:
            raise PermissionError(f"token {token} is older than {self.highest}")
        self.highest = token
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.to_thread(str, model)  # as if it went over the network
        self.models[model] = token
        self.under_way -= 1


class Update:
    """The task of both instances, and how its jobs ended."""

    def __init__(self, service: ModelService) -> None:
        self.service = service
        self.started = asyncio.Event()
        self.refused: asyncio.Queue[Job] = asyncio.Queue()
        self.completed: asyncio.Queue[JobId] = asyncio.Queue()
        self.may_end = asyncio.Event()
        """Keeps the update running until the second job was cancelled."""

    def declare(self, app: Drumbeat) -> None:
        """Register the task and the listeners on one instance."""

        @app.scheduled(every(seconds=1), exclusive="update-models", overlap="allow")
        async def update_models(ctx: Context) -> int:
            async with app.lock("update-models", ttl=30) as lock:
                ctx.log.info("Acquired Lock", token=lock.token)
                self.started.set()
                await bounded(
                    lambda model: self.service.update(model, lock.token), range(MODELS), AT_ONCE
                )
                await self.may_end.wait()
            ctx.log.info("Released Lock")
            return MODELS

        @app.on(JobExcluded)
        def refused(event: JobExcluded) -> None:
            self.refused.put_nowait(event.job)

        @app.on(JobSettled)
        def settled(event: JobSettled) -> None:
            if event.status is Status.COMPLETED:
                self.completed.put_nowait(event.settlement.hold.job_id)


async def tell(store: str, coordinator: str | None) -> int:
    """Run the example, and check its result."""
    service = ModelService()
    update = Update(service)
    first, second = (
        Drumbeat(store, coordinator=coordinator, instance_id=name, environment={}, grace=5)
        for name in ("instance-1", "instance-2")
    )
    for app in (first, second):
        update.declare(app)
    async with asyncio.timeout(PATIENCE), first.running(), second.running():
        await update.started.wait()
        print("one instance has the lock and updates the models", flush=True)
        try:
            async with second.lock("update-models"):
                print("two instances hold one lock")
                return 1
        except LockHeld as held:
            print(f"the other instance cannot take the lock: {held}", flush=True)

        rival = await update.refused.get()
        print(f"job {rival.id} of a later tick was cancelled: {rival.error}", flush=True)
        ticks = await second.schedules.ticks("update_models", PageRequest(100))
        recorded = [tick.tick_at for tick in ticks.items if tick.job_id == rival.id]
        print(f"the ledger has its tick: {recorded[0]:%H:%M:%S}")

        update.may_end.set()
        done = await update.completed.get()
        print(f"job {done} has updated {len(service.models):,} models, token {service.highest}")
        print(f"at most {service.most_under_way} updates ran at once")
    return 0 if len(service.models) == MODELS and service.most_under_way <= AT_ONCE else 1


def main() -> int:
    """Take the coordinator from the command line or the environment, else the store itself."""
    logging.basicConfig(level=logging.ERROR)
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("COORDINATOR")
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(tell(f"sqlite:///{Path(folder) / 'drumbeat.db'}", given))


if __name__ == "__main__":
    sys.exit(main())
