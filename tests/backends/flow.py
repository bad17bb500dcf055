"""A flow through the whole engine: submit, fire, run, cancel, beat, stop; and whether it held.

Somebody submits jobs, one by one and as a batch, cancels one that runs, and a schedule ticks all
the while. Whoever is told `Unavailable` looks again or tries again, as users do. In the end the
promises are checked by what the store holds and by what the handlers saw.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from drumbeat import Drumbeat
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.engine.tasks.context import Context
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Change, Job, JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import Outcome
from drumbeat.model.triggers import every
from drumbeat.ports.store import Store

T = TypeVar("T")

SOON = 60.0
TRIES = 20
TICKS = 2
BATCH = 3
PATIENT = "patient"
CLOCK = SystemClock()


class Flow:
    """One run of everything, over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.acknowledged: dict[JobId, str] = {}
        self.ran: list[tuple[JobId, int, str]] = []
        self._began = asyncio.Event()

    async def run(self) -> None:
        """From the start of a node to its end."""
        async with asyncio.timeout(SOON):
            app = await self._started()
            work, patient = app.task_named("work"), app.task_named("patient")
            for number in range(2):
                payload = f"single {number}"
                keyed = work.options(dedupe_key=payload)
                job = await self._until_done(partial(keyed.submit, payload))
                self.acknowledged[job.id] = payload
            calls = [{"payload": f"batch.{number}"} for number in range(BATCH)]
            for job in await self._until_done(lambda: work.submit_many(calls)):
                self.acknowledged[job.id] = json.loads(job.spec.arguments)["payload"]
            waiting = await self._until_done(
                lambda: patient.options(dedupe_key=PATIENT).submit(PATIENT)
            )
            self.acknowledged[waiting.id] = PATIENT
            await self._began.wait()
            await self._until_done(lambda: app.jobs.cancel(waiting.id))
            while not await self._until_done(lambda: self._is_over(app)):
                await CLOCK.sleep(0.02)
            await app.stop(grace=2.0)

    async def _started(self) -> Drumbeat:
        for _ in range(TRIES):
            app = self._app()
            try:
                await app.start()
            except (Unavailable, TimeoutError):  # whoever supervises the process starts it anew
                continue
            return app
        raise AssertionError("it never starts")

    def _app(self) -> Drumbeat:
        app = Drumbeat(
            self._store,
            environment={},
            instance_id="flow",
            lease_ttl=3.0,
            retry_interval=0.2,
            heartbeat_every=0.2,
            node_lifetime=0.8,
            concurrency=3,
        )

        @app.task(name="work")
        async def work(ctx: Context, payload: str) -> str:
            self.ran.append((ctx.job_id, ctx.attempt.hold.fence, payload))
            return payload

        @app.task(name="patient")
        async def patient(ctx: Context, payload: str) -> str:
            self.ran.append((ctx.job_id, ctx.attempt.hold.fence, payload))
            self._began.set()
            await ctx.cancelled.wait()
            return payload

        app.schedule(work, every(seconds=0.2), name="tick", kwargs={"payload": "tick"})
        return app

    async def _until_done(self, ask: Callable[[], Awaitable[T]]) -> T:
        for _ in range(TRIES):
            try:
                return await ask()
            except Unavailable:
                await CLOCK.sleep(0.02)
        raise AssertionError("the store is never there")

    async def _is_over(self, app: Drumbeat) -> bool:
        jobs = await app.store.jobs.get(list(self.acknowledged))
        if not all(job is not None and job.status.final for job in jobs):
            return False
        everything = await all_jobs(app.store)
        ticks = [job for job in everything if job.spec.tick_at is not None and job.status.final]
        left = [job for job in everything if job.spec.tick_at is None and not job.status.final]
        return len(ticks) >= TICKS and not left

    async def check(self, store: Store) -> None:
        """S1, S3, S12, S13, S16, S17. A connection may still be broken when it is first used."""
        await self._until_done(lambda: self._check(store))

    async def _check(self, store: Store) -> None:
        jobs = {job.id: job for job in await all_jobs(store)}
        for job_id, payload in self.acknowledged.items():
            assert job_id in jobs, f"S13: job {job_id} was acknowledged, and is gone"
            assert jobs[job_id].status.final, f"S13: job {job_id} never ended"
            assert _payload(jobs[job_id]) == payload, "S16"
        for job_id, _, payload in self.ran:
            assert _payload(jobs[job_id]) == payload, "S16: it ran with what was submitted"
        holds = Counter((job_id, fence) for job_id, fence, _ in self.ran)
        assert set(holds.values()) <= {1}, "S12: each claim runs once"
        for job in jobs.values():
            await _check_job(store, job)
        batches = Counter(_payload(job) for job in jobs.values())
        sizes = {batches[f"batch.{number}"] for number in range(BATCH)}
        assert len(sizes) == 1, f"S17: a batch is there as a whole or not at all: {batches}"
        assert max(batches[f"single {number}"] for number in range(2)) == 1, "S17: the keys"
        await _check_ticks(store, jobs)


async def all_jobs(store: Store) -> list[Job]:
    page = PageRequest(LARGEST_PAGE)
    return [*(await store.jobs.list(JobFilter(), page)).items]


async def _check_job(store: Store, job: Job) -> None:
    ends = [each.change for each in await store.jobs.attempts(job.id)]
    completed = job.status is Status.COMPLETED
    assert ends.count(Change.COMPLETE) == completed, f"S12: job {job.id} ended by {ends}"
    if completed:
        assert json.loads(job.result or b"null") == _payload(job), "S16: its result is its own"


async def _check_ticks(store: Store, jobs: dict[JobId, Job]) -> None:
    rows = (await store.schedules.ticks("tick", PageRequest(LARGEST_PAGE))).items
    fired = {row.tick_at: row.job_id for row in rows if row.outcome is Outcome.FIRED}
    assert len(fired) == sum(row.outcome is Outcome.FIRED for row in rows), "S1"
    ticks = {job.spec.tick_at: job.id for job in jobs.values() if job.spec.tick_at is not None}
    assert len(ticks) == sum(job.spec.tick_at is not None for job in jobs.values()), "S1"
    assert fired == ticks, "S3, S17: a row for each job, and a job for each row"


def _payload(job: Job) -> object:
    return json.loads(job.spec.arguments)["payload"]
