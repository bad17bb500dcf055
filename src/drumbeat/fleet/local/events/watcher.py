"""The watcher: finds what changes in the fleet, by reading the store.

It reads everything, so that it sees changes through any node, and publishes each once; what this
node itself does only makes it read sooner. Something that changes several times between two reads
is published in its last state. Only the newest jobs and ticks are followed: for a fleet that
creates thousands in a second, the counts of its queues are published.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.fleet.local.current_election import current_election
from drumbeat.fleet.local.events.feed import Feed
from drumbeat.fleet.local.events.new_ticks import NewTicks
from drumbeat.fleet.local.events.schedule_changes import ScheduleChanges
from drumbeat.fleet.local.large_values import without_large_values
from drumbeat.fleet.local.queue_rates import queue_with_rate
from drumbeat.model.events import (
    Event,
    LeadershipGained,
    LeadershipLost,
    NodeStopped,
    ScheduleChanged,
)
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import UNFINISHED, Job, JobFilter
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Topic
from drumbeat.wire.audit import audit_view
from drumbeat.wire.event import EventKind
from drumbeat.wire.job import job_view
from drumbeat.wire.node import node_view

if TYPE_CHECKING:
    from drumbeat.fleet.local.services import Services

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
    """Reads, compares with the last read, and publishes the differences."""

    name = "watcher"
    topics = (Topic.JOBS, Topic.FINISHED)

    def __init__(self, services: Services, feed: Feed) -> None:
        super().__init__(ServiceContext(services.runtime, services.bus))
        self._services = services
        self._feed = feed
        self._new_ticks = NewTicks(services.store, feed)
        self._schedule_changes = ScheduleChanges(services.store, feed)
        self._followed: dict[JobId, Hashable] = {}
        self._newest: JobId | None = None
        """None: nobody has looked yet, and so with the two below."""
        self._last_entry: int | None = None
        self._known: dict[tuple[EventKind, str], Hashable] = {}
        self._queues_seen = False
        self._looked_at = self._around_at = self._queues_at = -inf

    async def once(self) -> float | None:
        """Look, unless the last look was just now. The first look publishes nothing."""
        now = self._runtime.clock.elapsed()
        if now - self._looked_at < APART:
            return APART - (now - self._looked_at)
        self._looked_at = now
        await self._jobs()
        await self._new_ticks.look()
        await self._schedule_changes.look_at_noted()
        if now - self._around_at >= POLL:
            self._around_at = now
            await self._schedule_changes.look()
            await self._around()
        if now - self._queues_at >= QUEUES_EVERY:
            self._queues_at = now
            await self._queues()
        return POLL

    async def _jobs(self) -> None:
        jobs = self._services.store.jobs
        if self._newest is None:
            unfinished = await self._listed(JobFilter(statuses=UNFINISHED), FOLLOWED)
            self._followed = {job.id: _state(job) for job in reversed(unfinished)}
        seen = {job.id: job for job in await self._listed(JobFilter(), NEWEST)}
        others = [job_id for job_id in self._followed if job_id not in seen]
        for first in range(0, len(others), PORTION):
            portion = others[first : first + PORTION]
            for job_id, job in zip(portion, await jobs.get(portion), strict=True):
                if job is None:
                    del self._followed[job_id]
                else:
                    seen[job_id] = without_large_values(job)
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
            page = await self._services.store.jobs.list(wanted, PageRequest(size, after))
            found += [without_large_values(job) for job in page.items]
            after = page.next
            if after is None:
                break
        return found

    def _follow(self, job: Job) -> None:
        state = _state(job)
        known = self._followed.get(job.id)
        if known is None and self._newest is not None and job.id <= self._newest:
            return
        if job.status.final:
            self._followed.pop(job.id, None)
        else:
            self._followed[job.id] = state
        if self._newest is not None and known != state:
            self._feed.publish(EventKind.JOB, job_view(job, self._services.registry.secrets))

    async def _around(self) -> None:
        services, last = self._services, self._last_entry
        publishes = last is not None
        election = await current_election(services)
        term = (election.leader, election.token, election.epoch)
        if self._is_new(EventKind.LEADER, SCHEDULER, term) and publishes:
            self._feed.publish(EventKind.LEADER, election)
        for listed in await services.nodes.list():
            view = node_view(listed, election.leader)
            state = (view.alive, view.draining, view.drain_requested, view.leader, view.version)
            if self._is_new(EventKind.NODE, view.id, state) and publishes:
                self._feed.publish(EventKind.NODE, view)
        page = await services.store.audit.list(AuditFilter(), PageRequest(NEWEST))
        for entry in reversed(page.items):
            if last is not None and entry.id > last:
                self._feed.publish(EventKind.AUDIT, audit_view(entry))
        self._last_entry = max((last or 0, *(entry.id for entry in page.items)))

    async def _queues(self) -> None:
        seen = await self._services.store.queues.list()
        for record in seen.queues:
            state = msgspec.json.encode((record.counts, record.paused))
            if self._is_new(EventKind.QUEUE, record.name, state) and self._queues_seen:
                self._feed.publish(
                    EventKind.QUEUE, queue_with_rate(record, seen, self._services.rates)
                )
        self._queues_seen = True
        self._services.rates.note(seen)
        self._services.history.note(seen)

    def _is_new(self, kind: EventKind, name: str, state: Hashable) -> bool:
        key = (kind, name)
        known = self._known.get(key)
        self._known[key] = state
        return known != state

    def react_to(self, event: Event) -> None:
        """Look soon at what this node itself has done."""
        match event:
            case ScheduleChanged():
                self._schedule_changes.note(event)
                self.wake()
            case LeadershipGained() | LeadershipLost():
                self._around_at = -inf
                self.wake()
            case NodeStopped():
                self._feed.close()
            case _:
                pass


REACTS_TO = (ScheduleChanged, LeadershipGained, LeadershipLost, NodeStopped)


def watched(services: Services) -> Callable[[Feed], Callable[[], None]]:
    """Starts a watcher for a feed, and returns the call that stops it."""

    def begin(feed: Feed) -> Callable[[], None]:
        watcher, ending = Watcher(services, feed), ExitStack()
        for kind in REACTS_TO:
            ending.callback(services.bus.on(kind, watcher.react_to))
        for topic in watcher.topics:
            ending.callback(services.store.subscribe(topic, watcher.wake))
        watching = asyncio.create_task(watcher.run(), name="drumbeat-watcher")
        ending.callback(watching.cancel)
        return ending.close

    return begin


def _state(job: Job) -> tuple[Any, ...]:
    return (job.status, job.attempt, job.fence, job.progress, job.cancel_requested)
