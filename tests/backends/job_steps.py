"""Steps that are asked of two stores, of which one is the specification, and who asks them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import strategies as st

from drumbeat.model.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.ids import JobId
from drumbeat.model.job import (
    Attempt,
    Change,
    Job,
    JobFilter,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
    Settlement,
    Status,
    Wanted,
)
from drumbeat.model.lease import SCHEDULER
from drumbeat.model.page import PageRequest
from drumbeat.model.token import NewToken, Scope, TokenRecord
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import ANNE, after, lease

TASKS = ("a", "b", "c")
QUEUES = ("x", "y")
LONG_TAG = "blue" * 50
USUAL = JobSpec("").dedupe_for

specs = st.builds(
    JobSpec,
    task=st.sampled_from(TASKS),
    queue=st.sampled_from(QUEUES),
    priority=st.integers(0, 2),
    delay=st.sampled_from([timedelta(0)] * 4 + [timedelta(seconds=3)]),
    tags=st.sampled_from([*[()] * 4, ("red",), ("red", LONG_TAG), (LONG_TAG + "r",)]),
    schedule=st.sampled_from([None, None, "nightly"]),
    dedupe_key=st.sampled_from([None] * 5 + ["k", "l"]),
    dedupe_for=st.sampled_from([USUAL] * 4 + [timedelta(0), timedelta(seconds=4)]),
    limits=st.sampled_from(
        [
            *[()] * 4,
            (Limit("door", 1),),
            (Limit("door", 2),),
            (Limit("window", 1),),
            (Limit("door", 2), Limit("window", 1)),
            (Limit("door", 1, OnConflict.CANCEL),),
            (Limit("window", 1, OnConflict.CANCEL), Limit("door", 2)),
            (Limit("door", 2, OnConflict.CANCEL),),
            (Limit("door", 3, OnConflict.CANCEL), Limit("window", 2)),
        ]
    ),
    rate=st.sampled_from(
        [None] * 5
        + [
            Rate("bell", 2, timedelta(seconds=4)),
            Rate("gong", 1, timedelta(seconds=3)),
            Rate("chime", 3, timedelta(seconds=2)),
        ]
    ),
)


@dataclass(frozen=True)
class Insert:
    specs: Sequence[JobSpec]


@dataclass(frozen=True)
class Take:
    queues: Sequence[str]
    tasks: Sequence[str]
    limit: int
    change: Change
    settle: int
    """How many of the attempts that are held are settled first."""
    silent: bool = False
    """Whether they end without a word, as most do."""
    backwards: bool = False
    """Whether they ended in another order than they began."""
    twice: bool = False
    """Whether the first of them is settled once more, in place of the last."""


@dataclass(frozen=True)
class Cancel:
    job: int


@dataclass(frozen=True)
class Reopen:
    job: int


@dataclass(frozen=True)
class Wait:
    seconds: int


@dataclass(frozen=True)
class Prune:
    seconds: int


@dataclass(frozen=True)
class Restart:
    """The store is closed and opened again, with nothing in memory."""


@dataclass(frozen=True)
class Pause:
    queue: str


@dataclass(frozen=True)
class Resume:
    queue: str


@dataclass(frozen=True)
class Claim:
    """Of the fence."""

    token: int


@dataclass(frozen=True)
class Account:
    """An entry of the audit log, and the outcome of an earlier one."""

    actor: str
    concluded: int


@dataclass(frozen=True)
class Tokens:
    """A token is added and used, and another revoked."""

    added: str
    revoked: str


changes = st.sampled_from(
    [
        *[Change.COMPLETE] * 4,
        *(Change.RETRY, Change.SNOOZE, Change.GIVE_BACK, Change.FAIL, Change.CANCEL),
    ]
)
takes = st.builds(
    Take,
    queues=st.lists(st.sampled_from(QUEUES), min_size=1, max_size=2, unique=True),
    tasks=st.lists(st.sampled_from(TASKS), min_size=1, max_size=3, unique=True),
    limit=st.integers(0, 9),
    change=changes,
    settle=st.integers(0, 8),
    silent=st.booleans(),
    backwards=st.booleans(),
    twice=st.integers(0, 4).map(lambda number: number == 0),
)
small_takes = st.builds(
    Take,
    queues=st.just(QUEUES),
    tasks=st.just(TASKS),
    limit=st.integers(1, 3),
    change=changes,
    settle=st.integers(0, 3),
)
alike = st.builds(JobSpec, task=st.just("a"), queue=st.just("x"))
crowds = st.builds(
    lambda spec, times: [spec] * times,
    specs.filter(lambda spec: spec.dedupe_key is None and bool(spec.limits or spec.rate)),
    st.integers(3, 6),
)
"""Jobs that are alike, and more than their limit or rate lets start at once."""
keyed = st.builds(
    JobSpec,
    task=st.sampled_from(TASKS),
    queue=st.sampled_from(QUEUES),
    priority=st.integers(0, 2),
    limits=st.builds(
        lambda key, shared: (Limit(f"key {key}", 1), *shared),
        st.integers(1, 6),
        st.sampled_from([(), (Limit("door", 2),), (Limit("door", 2, OnConflict.CANCEL),)]),
    ),
)
"""More keys in several lanes than a small claim may start."""
steps = st.one_of(
    st.builds(Insert, st.lists(specs, min_size=1, max_size=6)),
    st.builds(Insert, st.lists(alike, min_size=5, max_size=12)),
    st.builds(Insert, crowds),
    st.builds(Insert, st.lists(keyed, min_size=4, max_size=12)),
    takes,
    takes,
    small_takes,
    st.builds(Cancel, st.integers(1, 12)),
    st.builds(Reopen, st.integers(1, 12)),
    st.builds(Wait, st.integers(1, 3)),
    st.builds(Prune, st.integers(0, 5)),
    st.just(Restart()),
    st.builds(Pause, st.sampled_from(QUEUES)),
    st.builds(Resume, st.sampled_from(QUEUES)),
    st.builds(Claim, st.integers(1, 5)),
    st.builds(Account, st.sampled_from("ab"), st.integers(0, 3)),
    st.builds(Tokens, st.sampled_from("ab"), st.sampled_from(["a", "b", "1"])),
)
FILTERS = (
    JobFilter(),
    *(JobFilter(frozenset({status})) for status in Status),
    JobFilter(frozenset({Status.COMPLETED, Status.QUEUED})),
    JobFilter(task="a"),
    JobFilter(frozenset({Status.COMPLETED}), task="a"),
    JobFilter(frozenset({Status.CANCELLED}), queue="x"),
    JobFilter(task="b", queue="y"),
    JobFilter(tag="red"),
    JobFilter(frozenset({Status.FAILED, Status.COMPLETED}), tag="red"),
    JobFilter(tag="red", task="a", schedule="nightly"),
    JobFilter(schedule="nightly"),
    JobFilter(frozenset({Status.COMPLETED}), schedule="nightly"),
    JobFilter(schedule="nightly", queue="x"),
    JobFilter(created_from=after(3)),
    JobFilter(created_to=after(3)),
    JobFilter(task="a", created_from=after(1), created_to=after(4)),
    JobFilter(tag=LONG_TAG),
)


class Driver:
    """Does the same to a store as another driver to another."""

    def __init__(self, store: Store, restart: Callable[[Store], Awaitable[Store]]) -> None:
        self._store = store
        self._restart = restart
        self._seconds = 0
        self._held: list[Attempt] = []
        self._recorded: list[int] = []
        self._first_token = ""
        self._words = 0

    async def do(self, step: object) -> object:
        jobs, now = self._store.jobs, after(self._seconds)
        match step:
            case Insert():
                return list(await jobs.insert(step.specs, now))
            case Take():
                return await self._take(step)
            case Cancel():
                return list(await jobs.cancel([JobId(step.job)], "enough", now))
            case Reopen():
                return list(await jobs.reopen([JobId(step.job)], now))
            case Wait():
                self._seconds += step.seconds
                return await jobs.promote(100, after(self._seconds))
            case Restart():
                self._store = await self._restart(self._store)
                return None
            case Prune():
                age = timedelta(seconds=step.seconds)
                await self._store.retention.prune_audit(2 * age, 2, now)
                return await self._store.retention.prune_jobs(age, 100, now)
            case _:
                return await self._operate(step)

    async def _operate(self, step: object) -> object:
        """What people do."""
        store, now = self._store, after(self._seconds)
        match step:
            case Pause():
                return await store.queues.pause(step.queue, f"at {self._seconds}", now)
            case Resume():
                return await store.queues.resume(step.queue)
            case Claim():
                return await store.fence.claim(lease(step.token), now)
            case Account():
                note = AuditNote(step.actor, "job.cancel", "7", details={"at": self._seconds})
                entry = await store.audit.record(note, now)
                self._recorded.append(entry.id)
                for number in self._recorded[step.concluded : step.concluded + 1]:
                    await store.audit.conclude(number, "done")
                return entry.at, entry.note
            case Tokens():
                self._words += 1
                new = NewToken(step.added, f"{self._words}", Scope.VIEWER, after(9))
                added = await store.tokens.add(new, now)
                if isinstance(added, TokenRecord):
                    self._first_token = self._first_token or str(added.id)
                revoked = self._first_token if step.revoked == "1" else step.revoked
                await store.tokens.revoke(revoked, now)
                if isinstance(added, TokenRecord):
                    await store.tokens.used([added.id], now)
                return isinstance(added, TokenRecord)
            case _:
                raise AssertionError(step)

    async def _take(self, step: Take) -> object:
        ended, self._held = self._held[: step.settle], self._held[step.settle :]
        if step.twice and len(ended) > 1:
            self._held.append(ended.pop())
            ended.append(ended[0])
        if step.backwards:
            ended.reverse()
        said = (None, None) if step.silent else (b"1", "so")
        settled = [
            Settlement(each.hold, step.change, timedelta(seconds=2), *said) for each in ended
        ]
        wanted = Wanted(tuple(step.queues), frozenset(step.tasks), step.limit)
        taken = await self._store.jobs.take(wanted, ANNE, settled, after(self._seconds))
        self._held += taken.attempts
        return taken

    async def look(self) -> object:
        jobs = self._store.jobs
        page = await jobs.list(JobFilter(), PageRequest())
        return [
            page.items,
            await jobs.counts(),
            [await jobs.attempts(job.id) for job in page.items],
            sorted(each.job_id for each in await jobs.held(ANNE)),
            [[job.id for job in await self._pages(wish)] for wish in FILTERS],
            await self._store.queues.list(after(self._seconds)),
            await self._store.fence.history(SCHEDULER, PageRequest()),
            [replace(each, id=0) for each in await self._entries()],
            [replace(each, id=0) for each in await self._store.tokens.list()],
        ]

    async def _pages(self, wish: JobFilter) -> list[Job]:
        """All pages, each so small that there are several."""
        found: list[Job] = []
        request = PageRequest(4)
        while True:
            page = await self._store.jobs.list(wish, request)
            found += page.items
            if page.next is None:
                return found
            request = PageRequest(4, page.next)

    async def _entries(self) -> Sequence[AuditEntry]:
        return (await self._store.audit.list(AuditFilter(actor="a"), PageRequest())).items


async def stay(store: Store) -> Store:
    """Restart a store that lives in memory: it would lose everything."""
    return store
