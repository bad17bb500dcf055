"""Does the steps of `job_steps.py` to a store, and looks at what came of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.fleet.token import NewToken, Scope, TokenRecord
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Attempt,
    Job,
    JobFilter,
    JobSpec,
    Settlement,
    Status,
    Wanted,
)
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import ANNE, after, lease

from .job_steps import (
    LONG_TAG,
    Account,
    Cancel,
    Claim,
    Insert,
    Pause,
    Prune,
    Reopen,
    Restart,
    Resume,
    Rush,
    Take,
    Tokens,
    Wait,
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
    JobFilter(expired=True),
    JobFilter(expired=True, task="a", schedule="nightly"),
)


class Driver:
    """Does the same to a store as another driver to another."""

    def __init__(self, store: Store, restart: Callable[[Store], Awaitable[Store]]) -> None:
        self._store = store
        self._restart = restart
        self._seconds = 0
        self._newest = 0
        self._held: list[Attempt] = []
        self._recorded: list[int] = []
        self._first_token = ""
        self._words = 0

    async def do(self, step: object) -> object:
        jobs, now = self._store.jobs, after(self._seconds)
        match step:
            case Insert():
                return await self._insert(step.specs)
            case Take():
                return await self._take(step)
            case Rush():
                inserted = await self._insert(step.specs)
                return inserted, [await self._take(each) for each in step.takes]
            case Cancel():
                job = step.job if step.job > 0 else max(1, self._newest + 1 + step.job)
                return list(await jobs.cancel([JobId(job)], "enough", now))
            case Reopen():
                return list(await jobs.reopen([JobId(step.job)], now))
            case Wait():
                self._seconds += step.seconds
                promoted = await jobs.promote(100, after(self._seconds))
                return promoted, (await jobs.expire(100, after(self._seconds))).job_ids
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

    async def _insert(self, specs: Sequence[JobSpec]) -> object:
        verdicts = list(await self._store.jobs.insert(specs, after(self._seconds)))
        self._newest = max(self._newest, *(verdict.job.id for verdict in verdicts))
        return verdicts

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
