"""Watching: what changes in the fleet, found by looking at the store.

Everything is looked at, so that changes through any node are seen, and each is told once; what
this node itself does only makes it look sooner. What happens between two looks is told as its last
state. Of jobs and ticks, only the newest are followed: a fleet that creates thousands in a second
is told of by its queues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec

from drumbeat.api.feed import Feed
from drumbeat.api.revising import Revising
from drumbeat.api.showing import election_shown, job_told, lightened, queue_shown
from drumbeat.api.ticking import Ticking
from drumbeat.engine.service import Service
from drumbeat.model.audit import AuditFilter
from drumbeat.model.events import (
    Event,
    LeadershipGained,
    LeadershipLost,
    NodeStopped,
    ScheduleChanged,
)
from drumbeat.model.ids import JobId
from drumbeat.model.job import UNFINISHED, Job, JobFilter
from drumbeat.model.lease import SCHEDULER
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Topic
from drumbeat.wire.audit import audit_view
from drumbeat.wire.event import EventKind
from drumbeat.wire.node import node_view

if TYPE_CHECKING:
    from drumbeat.api.desk import Desk

APART = 0.5
"""Seconds between two looks at jobs and ticks at least, however many hints come."""
POLL = 2.0
"""Seconds between two looks at most."""
QUEUES_EVERY = 5.0
"""Seconds between two looks at the queues, which have to count."""
NEWEST = 200
"""New jobs that one look finds."""
PORTION = 50
"""Jobs that are read at a time."""
FOLLOWED = 1_000
"""Unfinished jobs that are followed until they end."""


class Watcher(Service):
    """Looks, compares with the last look, and tells what is different."""

    name = "watcher"
    topics = (Topic.JOBS, Topic.FINISHED)

    def __init__(self, desk: Desk, feed: Feed) -> None:
        super().__init__(desk.runtime, desk.bus)
        self._desk = desk
        self._feed = feed
        self._ticking = Ticking(desk.store, feed)
        self._revising = Revising(desk.store, feed)
        self._followed: dict[JobId, Hashable] = {}
        self._newest: JobId | None = None
        """None: nobody has looked yet, and so with the two below."""
        self._last_entry: int | None = None
        self._known: dict[tuple[EventKind, str], Hashable] = {}
        self._queues_seen = False
        self._looked_at = self._around_at = self._queues_at = -inf

    async def once(self) -> float | None:
        """Look, if the last look is long enough ago. The first look at each thing tells nothing."""
        now = self._runtime.clock.elapsed()
        if now - self._looked_at < APART:
            return APART - (now - self._looked_at)
        self._looked_at = now
        await self._jobs()
        await self._ticking.look()
        await self._revising.look_at_heard()
        if now - self._around_at >= POLL:
            self._around_at = now
            await self._revising.look()
            await self._around()
        if now - self._queues_at >= QUEUES_EVERY:
            self._queues_at = now
            await self._queues()
        return POLL

    async def _jobs(self) -> None:
        jobs = self._desk.store.jobs
        if self._newest is None:
            unfinished = await self._listed(JobFilter(statuses=UNFINISHED), FOLLOWED)
            self._followed = {job.id: _standing(job) for job in reversed(unfinished)}
        seen = {job.id: job for job in await self._listed(JobFilter(), NEWEST)}
        others = [job_id for job_id in self._followed if job_id not in seen]
        for first in range(0, len(others), PORTION):
            portion = others[first : first + PORTION]
            for job_id, job in zip(portion, await jobs.get(portion), strict=True):
                if job is None:
                    del self._followed[job_id]
                else:
                    seen[job_id] = lightened(job)
        for job in sorted(seen.values(), key=lambda each: each.id):
            self._follow(job)
        self._newest = max((self._newest or JobId(0), *seen))
        for job_id in list(self._followed)[: max(0, len(self._followed) - FOLLOWED)]:
            del self._followed[job_id]

    async def _listed(self, wanted: JobFilter, most: int) -> list[Job]:
        """The newest of these jobs. Large ones are in memory only a portion at a time."""
        found: list[Job] = []
        after: str | None = None
        while len(found) < most:
            size = min(PORTION, most - len(found))
            page = await self._desk.store.jobs.list(wanted, PageRequest(size, after))
            found += [lightened(job) for job in page.items]
            after = page.next
            if after is None:
                break
        return found

    def _follow(self, job: Job) -> None:
        standing = _standing(job)
        known = self._followed.get(job.id)
        if known is None and self._newest is not None and job.id <= self._newest:
            return
        if job.status.final:
            self._followed.pop(job.id, None)
        else:
            self._followed[job.id] = standing
        if self._newest is not None and known != standing:
            self._feed.tell(EventKind.JOB, job_told(self._desk, job))

    async def _around(self) -> None:
        desk, last = self._desk, self._last_entry
        tells = last is not None
        election = await election_shown(desk, SCHEDULER)
        term = (election.leader, election.token, election.epoch)
        if self._is_new(EventKind.LEADER, SCHEDULER, term) and tells:
            self._feed.tell(EventKind.LEADER, election)
        for record in await desk.store.nodes.list():
            view = node_view(record, election.leader)
            state = (view.alive, view.draining, view.drain_requested, view.leader, view.version)
            if self._is_new(EventKind.NODE, view.id, state) and tells:
                self._feed.tell(EventKind.NODE, view)
        page = await desk.store.audit.list(AuditFilter(), PageRequest(NEWEST))
        for entry in reversed(page.items):
            if last is not None and entry.id > last:
                self._feed.tell(EventKind.AUDIT, audit_view(entry))
        self._last_entry = max((last or 0, *(entry.id for entry in page.items)))

    async def _queues(self) -> None:
        seen = await self._desk.store.queues.list()
        for record in seen.queues:
            state = msgspec.json.encode((record.counts, record.paused))
            if self._is_new(EventKind.QUEUE, record.name, state) and self._queues_seen:
                self._feed.tell(EventKind.QUEUE, queue_shown(record, seen.as_of, self._desk.rates))
        self._queues_seen = True
        self._desk.rates.note(seen)

    def _is_new(self, kind: EventKind, name: str, state: Hashable) -> bool:
        key = (kind, name)
        known = self._known.get(key)
        self._known[key] = state
        return known != state

    def hear(self, event: Event) -> None:
        """Look soon at what this node itself has done."""
        match event:
            case ScheduleChanged():
                self._revising.hear(event)
                self.wake()
            case LeadershipGained() | LeadershipLost():
                self._around_at = -inf
                self.wake()
            case NodeStopped():
                self._feed.close()
            case _:
                pass


HEARD: tuple[type[Event], ...] = (ScheduleChanged, LeadershipGained, LeadershipLost, NodeStopped)


def watched(desk: Desk) -> Callable[[Feed], Callable[[], None]]:
    """How a feed has the fleet watched; what it returns ends that."""

    def begin(feed: Feed) -> Callable[[], None]:
        watcher, ending = Watcher(desk, feed), ExitStack()
        for kind in HEARD:
            ending.callback(desk.bus.on(kind, watcher.hear))
        for topic in watcher.topics:
            ending.callback(desk.store.subscribe(topic, watcher.wake))
        watching = asyncio.create_task(watcher.run(), name="drumbeat-watcher")
        ending.callback(watching.cancel)
        return ending.close

    return begin


def _standing(job: Job) -> tuple[Any, ...]:
    return (job.status, job.attempt, job.fence, job.progress, job.cancel_requested)
