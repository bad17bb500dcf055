"""The memory store's lines and parking against the plainest possible way to choose jobs."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Job,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
    Settlement,
    Status,
    Wanted,
)
from drumbeat.testing.conformance.builders import ANNE, NOON, after, all_jobs, insert, job_of

from .hand_clock import HandClock

limits = st.lists(
    st.builds(
        Limit,
        st.sampled_from(["door", "window"]),
        st.integers(1, 2),
        st.sampled_from(OnConflict),
    ),
    max_size=2,
    unique_by=lambda limit: limit.key,
).map(tuple)
rates = st.none() | st.builds(
    Rate, st.just("bell"), st.integers(1, 2), st.just(timedelta(seconds=4))
)
specs = st.builds(
    JobSpec,
    st.sampled_from(["a", "b"]),
    queue=st.sampled_from(["x", "y"]),
    priority=st.integers(0, 2),
    limits=limits,
    rate=rates,
)
workers = st.builds(
    Wanted,
    st.sampled_from([("x",), ("y",), ("x", "y")]),
    st.sampled_from([frozenset("a"), frozenset("b"), frozenset("ab")]),
    st.integers(1, 4),
)
endings = st.sampled_from([Change.COMPLETE, Change.RETRY, Change.GIVE_BACK, Change.FAIL])
actions = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.lists(specs, min_size=1, max_size=4)),
        st.tuples(st.just("take"), workers),
        st.tuples(st.just("settle"), st.tuples(st.integers(0, 9), endings)),
        st.tuples(st.just("cancel"), st.integers(0, 9)),
        st.tuples(st.just("reopen"), st.integers(0, 9)),
        st.tuples(st.just("wait"), st.integers(1, 3)),
    ),
    min_size=5,
    max_size=40,
)


class Oracle:
    """Chooses by looking at every job, every time."""

    def __init__(self) -> None:
        self.starts: dict[str, list[datetime]] = {}

    def choose(
        self, jobs: list[Job], wanted: Wanted, now: datetime
    ) -> tuple[list[JobId], list[JobId]]:
        running = [job.spec for job in jobs if job.status is Status.RUNNING]
        waiting = [
            job
            for job in jobs
            if job.status is Status.QUEUED
            and job.spec.queue in wanted.queues
            and job.task in wanted.tasks
        ]
        claimed: list[JobId] = []
        cancelled: list[JobId] = []
        for job in sorted(waiting, key=lambda job: (-job.spec.priority, job.run_at, job.id)):
            if len(claimed) == wanted.limit:
                break
            keys = [limit.key for other in running for limit in other.limits]
            reached = {
                limit.on_conflict
                for limit in job.spec.limits
                if keys.count(limit.key) >= limit.at_most
            }
            if OnConflict.WAIT in reached or not self._open(job.spec.rate, now):
                continue
            if reached:  # they cancel it, or skip it
                cancelled.append(job.id)
                continue
            self._spend(job.spec.rate, now)
            running.append(job.spec)
            claimed.append(job.id)
        return claimed, cancelled

    def _open(self, rate: Rate | None, now: datetime) -> bool:
        if rate is None:
            return True
        recent = [start for start in self.starts.get(rate.key, []) if start > now - rate.per]
        return len(recent) < rate.at_most

    def _spend(self, rate: Rate | None, now: datetime) -> None:
        if rate is not None:
            self.starts.setdefault(rate.key, []).append(now)


@settings(max_examples=150, deadline=None)
@given(actions)
def test_claims_are_those_of_a_search_through_all_jobs(script: list[tuple[str, object]]) -> None:
    asyncio.run(Play().run(script))


class Play:
    """Lets the store and the oracle act side by side."""

    def __init__(self) -> None:
        self.store = MemoryStore(HandClock())
        self.oracle = Oracle()
        self.now = NOON
        self.ids: list[JobId] = []
        self.held: list[Attempt] = []

    async def run(self, script: list[tuple[str, object]]) -> None:
        for action, argument in script:
            await getattr(self, action)(argument)
        assert await all_jobs(self.store) == len(self.ids)

    async def insert(self, wishes: list[JobSpec]) -> None:
        self.ids += [job.id for job in await insert(self.store, *wishes, at=self.now)]

    async def take(self, wanted: Wanted) -> None:
        jobs = [await job_of(self.store, job_id) for job_id in self.ids]
        expected = self.oracle.choose(jobs, wanted, self.now)
        taken = await self.store.jobs.take(wanted, ANNE, at=self.now)
        claimed = [attempt.job_id for attempt in taken.attempts]
        assert (claimed, list(taken.cancelled)) == expected
        self.held += taken.attempts

    async def settle(self, ending: tuple[int, Change]) -> None:
        which, change = ending
        if self.held:
            attempt = self.held.pop(which % len(self.held))
            await self.store.jobs.settle([Settlement(attempt.hold, change)], self.now)

    async def cancel(self, which: int) -> None:
        if self.ids:
            await self.store.jobs.cancel([self.ids[which % len(self.ids)]], at=self.now)

    async def reopen(self, which: int) -> None:
        if self.ids:
            await self.store.jobs.reopen([self.ids[which % len(self.ids)]], self.now)

    async def wait(self, seconds: int) -> None:
        self.now = after((self.now - NOON).total_seconds() + seconds)
