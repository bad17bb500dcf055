"""Lists and counts of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pymongo

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.duplicates import HIGHEST
from drumbeat.backends.mongo.store.jobs.job_document import VISIBLE, job_of
from drumbeat.backends.mongo.store.times import given
from drumbeat.backends.store_rules import page_of
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import SKIPPED, Job, JobFilter, Status
from drumbeat.model.page import Page, PageRequest
from drumbeat.rules.page_position import number_after

COUNT_WITHIN = 30.0
"""Seconds for counting jobs, which reads an index of all of them and decides nothing."""


async def jobs_page(collections: Collections, wanted: JobFilter, page: PageRequest) -> Page[Job]:
    """Jobs that match every given field of the filter, newest first."""
    filters = to_query(wanted)
    after = number_after(page, "job")
    if after is not None:
        filters["_id"] = {"$lt": min(after, HIGHEST)}
    found = collections["jobs"].find(filters).sort([("_id", -1)]).limit(page.size + 1)
    jobs = [job_of(each) async for each in found]
    return page_of(jobs, page.size, "job", lambda job: job.id)


def to_query(wanted: JobFilter) -> Document:
    query: Document = dict(VISIBLE)
    errors = [*([EXPIRED] if wanted.expired else []), *([SKIPPED] if wanted.skipped else [])]
    if errors:
        statuses = wanted.statuses or frozenset({Status.CANCELLED})
        query["status"] = {"$in": [each.value for each in statuses & {Status.CANCELLED}]}
        query["$and"] = [{"error": each} for each in errors]
    elif wanted.statuses:
        query["status"] = {"$in": [each.value for each in wanted.statuses]}
    fields = {
        "task": wanted.task,
        "queue": wanted.queue,
        "schedule": wanted.schedule,
        "tags": wanted.tag,
    }
    query |= {name: value for name, value in fields.items() if value is not None}
    created: dict[str, int] = {}
    if wanted.created_from is not None:
        created["$gte"] = given("created_from", wanted.created_from)
    if wanted.created_to is not None:
        created["$lt"] = given("created_to", wanted.created_to)
    if created:
        query["created_at"] = created
    return query


async def counts(collections: Collections) -> dict[str, dict[Status, int]]:
    """The number of jobs by queue and status."""
    group = {"_id": {"queue": "$queue", "status": "$status"}, "count": {"$sum": 1}}
    found: dict[str, dict[Status, int]] = {}
    with pymongo.timeout(COUNT_WITHIN):
        cursor = await collections["jobs"].aggregate([{"$match": VISIBLE}, {"$group": group}])
        async for each in cursor:
            queue, status = each["_id"]["queue"], Status(each["_id"]["status"])
            found.setdefault(queue, {})[status] = each["count"]
    return found


async def oldest_queued(collections: Collections) -> Mapping[str, int]:
    """By queue: the earliest `run_at` among its queued jobs."""
    group = {"_id": "$queue", "oldest": {"$min": "$run_at"}}
    queued = {"status": Status.QUEUED.value}
    with pymongo.timeout(COUNT_WITHIN):
        cursor = await collections["jobs"].aggregate([{"$match": queued}, {"$group": group}])
        return {each["_id"]: each["oldest"] async for each in cursor}


async def unknown_tasks(
    collections: Collections, queues: Sequence[str], known: frozenset[str], limit: int
) -> list[str]:
    queued: Document = {
        "status": Status.QUEUED.value,
        "queue": {"$in": list(queues)},
        "task": {"$nin": list(known)},
    }
    stages = [{"$match": queued}, {"$group": {"_id": "$task"}}, {"$sort": {"_id": 1}}]
    cursor = await collections["jobs"].aggregate([*stages, {"$limit": limit}])
    return [each["_id"] async for each in cursor]
