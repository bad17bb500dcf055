"""Backfill: fires past ticks on request, each once."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions, Prepared
from drumbeat.backends.mongo.store.jobs.insertion import prepare_jobs
from drumbeat.backends.mongo.store.jobs.job_document import new_document
from drumbeat.backends.mongo.store.schedules import ledger
from drumbeat.backends.mongo.store.schedules.ledger import Signature, once
from drumbeat.backends.mongo.store.session import next_numbers
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.ids import JobId
from drumbeat.model.schedules.plan import AlreadyFired, Backfilled, Fire


async def backfill(
    collections: Collections, decisions: Decisions, name: str, fires: Sequence[Fire], now: int
) -> list[Backfilled | AlreadyFired]:
    """Fire the ticks that have not fired yet."""
    signature = Signature(now, backfilled=True)
    while True:
        existing = {"_id": name, "absent": None}
        if await collections["schedules"].find_one(existing, {"_id": 1}) is None:
            raise UnknownSchedule(name)
        if not fires:
            return []
        first = once(fires)
        numbers = await next_numbers(collections, "jobs", len(first))
        jobs = [new_document(fire.job, 0, now) for fire in first]
        rows: list[Document] = []
        for number, fire, job in zip(numbers, first, jobs, strict=True):
            job["_id"] = number
            rows.append(ledger.fired(name, fire.tick_at, number, signature))
        decision = await decisions.begin(collections)
        taken = await ledger.prepare(collections, decision, rows)
        in_the_way = await ledger.holders(collections, taken) if taken else None
        if in_the_way is not None:
            await decisions.abort(collections, decision)
            for each in in_the_way:
                await decisions.settle(collections, each)
            continue
        new = {
            fire.tick_at: job
            for fire, job, row in zip(first, jobs, rows, strict=True)
            if row["_id"] not in taken
        }
        if new:
            await prepare_jobs(collections, decision, list(new.values()))
        prepared = Prepared.of_jobs(new.values(), ticks=True)
        if not await decisions.make(collections, decision, prepared):
            continue
        verdicts: list[Backfilled | AlreadyFired] = []
        for fire in fires:
            fired = new.pop(fire.tick_at, None)
            verdicts.append(
                AlreadyFired(fire.tick_at)
                if fired is None
                else Backfilled(fire.tick_at, JobId(fired["_id"]))
            )
        return verdicts
