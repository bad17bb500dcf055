"""Waiting jobs: queueing those that are due, ending those that have expired."""

from __future__ import annotations

from datetime import datetime

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.cancellation import cancelling
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite, jobs_with, write
from drumbeat.backends.mongo.store.times import to_instant
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import Status, Ticket

PENDING = {"status": Status.PENDING.value}
WAITING = {"status": {"$in": [Status.PENDING.value, Status.QUEUED.value]}}
IN_TURN = [("run_at", 1), ("_id", 1)]


async def promote(collections: Collections, limit: int, now: int) -> list[Ticket]:
    """Queue pending jobs that are due, the earliest first."""
    due = {**PENDING, "run_at": {"$lte": now}}
    tickets: list[Ticket] = []
    while len(tickets) < limit:
        found = collections["jobs"].find(due).sort(IN_TURN).limit(limit - len(tickets))
        documents = await jobs_with((Status.PENDING,), found)
        if not documents:
            break
        queued = {"status": Status.QUEUED.value, "queued_at": now}
        done = await write(collections, [JobWrite(each, queued) for each in documents])
        tickets += [ticket(each) for each in documents if each["_id"] in done]
    return tickets


async def next_due(collections: Collections) -> datetime | None:
    """When the next pending job is due."""
    found = collections["jobs"].find(PENDING, {"run_at": 1}).sort(IN_TURN).limit(1)
    return next((to_instant(each["run_at"]) for each in await found.to_list()), None)


async def expire(collections: Collections, limit: int, now: int) -> list[JobId]:
    """End waiting jobs that have expired, the longest expired first."""
    over = {**WAITING, "expires_at": {"$lte": now}}
    order = [("expires_at", 1), ("_id", 1)]
    expired: list[JobId] = []
    while len(expired) < limit:
        found = collections["jobs"].find(over).sort(order).limit(limit - len(expired))
        documents = await jobs_with((Status.PENDING, Status.QUEUED), found)
        if not documents:
            break
        done = await write(collections, [cancelling(each, EXPIRED, now) for each in documents])
        expired += [JobId(each["_id"]) for each in documents if each["_id"] in done]
    return expired


async def next_expiry(collections: Collections) -> datetime | None:
    """When the next waiting job expires."""
    expiring = {**WAITING, "expires_at": {"$gt": 0}}
    found = collections["jobs"].find(expiring, {"expires_at": 1}).sort([("expires_at", 1)]).limit(1)
    return next((to_instant(each["expires_at"]) for each in await found.to_list()), None)


async def stale(collections: Collections, since: int, limit: int) -> list[Ticket]:
    """Tickets of the jobs that have been queued since then, the longest first."""
    queued = {"status": Status.QUEUED.value, "queued_at": {"$lte": since}}
    order = [("queued_at", 1), ("_id", 1)]
    found = collections["jobs"].find(queued, {"queue": 1, "priority": 1}).sort(order).limit(limit)
    return [ticket(each) async for each in found]


def ticket(document: Document) -> Ticket:
    return Ticket(JobId(document["_id"]), document["queue"], document["priority"])
