"""Values for the cases, with readable defaults, and calls with checked answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from drumbeat.model.fleet.lease import SCHEDULER, Epoch, Lease
from drumbeat.model.fleet.node import Beat, Node, Role
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import (
    DEFAULT_QUEUE,
    Attempt,
    Change,
    Hold,
    Inserted,
    Job,
    JobFilter,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
    Settled,
    Settlement,
    Superseded,
    Wanted,
)
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import Committed, Edit, Fire, Plan, Raced, TickRecord, Written
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.triggers.every import every
from drumbeat.ports.store import Store

T = TypeVar("T")

NOON = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RACERS = 8

ANNE = NodeId("anne:0000000000000001")
BERT = NodeId("bert:0000000000000002")

FULL_SPEC = JobSpec(
    "send",
    '{"to":"Zoë \N{SNOWMAN} \\u0000 \N{PILE OF POO}"}'.encode(),
    queue="mäil",
    priority=100,
    run_at=NOON + MINUTE,
    delay=timedelta(seconds=1, microseconds=1),
    retry=Retry.delays(0.5, 10, 2.5),
    timeout=0.25,
    dedupe_key="schlüssel",
    dedupe_for=timedelta(minutes=3, microseconds=3),
    dedupe_scope="bestellungen",
    schedule="nightly",
    tick_at=NOON + timedelta(microseconds=123_456),
    limits=(Limit("door", 2), Limit("window", 1, OnConflict.CANCEL)),
    rate=Rate("bell", 5, MINUTE),
    tags=("one", "zwei \N{SNOWMAN}"),
    expires=timedelta(hours=1, microseconds=1),
    retention=timedelta(days=30, microseconds=1),
    trace="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
)
"""A job in which every field differs from its default, so that a copy that drops one fails."""


def specs_by_field() -> dict[str, JobSpec]:
    """For each field, a job in which only this field differs from its default."""
    plain = JobSpec("send")
    return {
        each.name: replace(plain, **{each.name: getattr(FULL_SPEC, each.name)})
        for each in fields(JobSpec)
    }


def after(seconds: float) -> datetime:
    """An instant some seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def spec(task: str = "send") -> JobSpec:
    """A job of a task, in the default queue."""
    return JobSpec(task)


def wanted(
    limit: int = 100,
    tasks: Sequence[str] = ("send",),
    queues: Sequence[str] = (DEFAULT_QUEUE,),
    ahead: int = 0,
) -> Wanted:
    """What a worker asks for."""
    return Wanted(tuple(queues), frozenset(tasks), limit, ahead)


def lease(token: int, domain: str = "here", holder: NodeId = ANNE, name: str = SCHEDULER) -> Lease:
    """A term of the scheduler election."""
    return Lease(name, holder, domain, token, timedelta(seconds=10))


def node(identity: NodeId = ANNE) -> Node:
    """A worker."""
    return Node(identity, frozenset({Role.WORKER}), "1.0", NOON, slots=8, queues=(DEFAULT_QUEUE,))


def beat(identity: NodeId = ANNE, holds: Sequence[Hold] = (), lifetime: float = 15.0) -> Beat:
    """A heartbeat of a worker, worth fifteen seconds."""
    return Beat(node(identity), lifetime, tuple(holds))


def schedule(name: str = "nightly", next_tick: datetime | None = NOON) -> StoredSchedule:
    """A schedule that ticks every minute and is due at noon."""
    cursor = NOON - MINUTE
    definition = Schedule(name, every(minutes=1), JobSpec("send"))
    return StoredSchedule(definition, 1, cursor, next_tick, cursor, cursor)


def fire(name: str, tick_at: datetime) -> Fire:
    """A tick that fires, with the job that it submits."""
    return Fire(tick_at, JobSpec("send", schedule=name, tick_at=tick_at))


def plan(before: StoredSchedule) -> Plan:
    """The plan that fires a schedule's next tick and moves on by a minute."""
    tick = before.next_tick
    assert tick is not None, "only a schedule with a next tick can be planned"
    return Plan(before, tick, tick + MINUTE, tick, (fire(before.name, tick),))


def edited(before: StoredSchedule) -> StoredSchedule:
    """The schedule after a person has changed it."""
    return replace(before, version=before.version + 1, paused=True)


async def lead(store: Store, token: int = 1) -> Epoch:
    """The epoch of a leader."""
    epoch = await store.fence.claim(lease(token))
    assert isinstance(epoch, Epoch)
    return epoch


async def add(store: Store, *schedules: StoredSchedule) -> None:
    """Put new schedules into a store."""
    verdicts = await store.schedules.put([Edit(None, each) for each in schedules], NOON)
    assert list(verdicts) == [Written(each.name) for each in schedules]


async def found(store: Store, name: str = "nightly") -> StoredSchedule:
    """The schedule in the store."""
    (stored,) = (await store.schedules.get([name])).schedules
    assert stored is not None, f"{name} exists"
    return stored


async def commit(store: Store, planned: Plan, epoch: Epoch) -> Committed | Raced:
    """Commit one plan, a second after noon or once its instant has come."""
    at = max(after(1), planned.cursor)
    (verdict,) = await store.schedules.commit([planned], epoch, at)
    return verdict


async def rows(store: Store, name: str = "nightly") -> Sequence[TickRecord]:
    """The ledger of a schedule, latest tick first."""
    return (await store.schedules.ticks(name, PageRequest())).items


async def insert(store: Store, *specs: JobSpec, at: datetime = NOON) -> list[Job]:
    """Create jobs, and check that they are new."""
    verdicts = await store.jobs.insert(specs, at)
    assert all(isinstance(verdict, Inserted) for verdict in verdicts), verdicts
    return [verdict.job for verdict in verdicts]


async def insert_one(store: Store, wish: JobSpec, at: datetime = NOON) -> Job:
    """Create one job."""
    (job,) = await insert(store, wish, at=at)
    return job


async def take(
    store: Store, wish: Wanted | None = None, by: NodeId = ANNE, at: datetime = NOON
) -> Sequence[Attempt]:
    """Claim all jobs that are ready."""
    return (await store.jobs.take(wish or wanted(), by, at=at)).attempts


async def take_one(store: Store, by: NodeId = ANNE, at: datetime = NOON) -> Attempt:
    """Claim the only job that is ready."""
    (attempt,) = await take(store, by=by, at=at)
    return attempt


async def running(store: Store, wish: JobSpec | None = None) -> Attempt:
    """Create a job and claim it."""
    await insert_one(store, wish or spec())
    return await take_one(store)


async def settle(store: Store, settlement: Settlement, at: datetime = NOON) -> Settled | Superseded:
    """Close one attempt."""
    (verdict,) = await store.jobs.settle([settlement], at)
    return verdict


async def finish(store: Store, hold: Hold, at: datetime = NOON) -> None:
    """Complete a job, and check the verdict."""
    verdict = await settle(store, Settlement(hold, Change.COMPLETE), at)
    assert isinstance(verdict, Settled), verdict


async def job_of(store: Store, job_id: JobId) -> Job:
    """The job in the store."""
    (job,) = await store.jobs.get([job_id])
    assert job is not None, f"job {job_id} exists"
    return job


async def all_jobs(store: Store) -> int:
    """How many jobs there are."""
    return len((await store.jobs.list(JobFilter(), PageRequest())).items)


async def pages(
    read: Callable[[PageRequest], Awaitable[Page[T]]], size: int
) -> AsyncIterator[Page[T]]:
    """All pages of a list, one after the other."""
    request = PageRequest(size=size)
    while True:
        page = await read(request)
        assert len(page.items) <= size
        yield page
        if page.next is None:
            return
        request = PageRequest(size=size, after=page.next)


async def race(call: Callable[[int], Awaitable[T]], racers: int = RACERS) -> list[T]:
    """Make several calls at once, each with its number, and return the answers in that order."""
    barrier = asyncio.Barrier(racers)

    async def run(number: int) -> T:
        await barrier.wait()
        return await call(number)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(number)) for number in range(racers)]
    return [task.result() for task in tasks]


async def let_others_run() -> None:
    """Return after every ready task has run."""
    turn = asyncio.Event()
    asyncio.get_running_loop().call_soon(turn.set)
    await turn.wait()


async def repeat_until(done: asyncio.Task[Any], act: Callable[[], Awaitable[object]]) -> None:
    """Repeat an action until a task is done: a hint before the subscription is lost."""
    while not done.done():
        await act()
        await let_others_run()
