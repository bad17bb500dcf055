"""The MongoDB store beside bare pymongo, which makes the same round trips on the same server.

Bare means one collection with one index, small documents and bulk writes: to submit one job a
number and an insert; to submit a batch the six writes of a decided step; to drain a bulk write that
completes, a query, a look at the pauses and a bulk write that claims; to pick a job up the insert,
an update of a document whose change stream the other side watches, and the same claim. It has no
results, fences, attempts, limits or counts. The drain is measured with updates that name the `_id`
alone, and once more with the status beside it (`guarded`), without which two nodes could claim the
same job. The server is the one of the tests, in memory, since no `mongod` can be installed: the
ratios say what our part costs, and the rates say nothing about MongoDB.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from bson import ObjectId
from pymongo import InsertOne, UpdateOne

from bench.due_schedules import PAYLOAD
from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store import MongoStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Attempt, Change, JobSpec, Settlement, Wanted
from drumbeat.ports.store import Topic
from servers import MongoInMemory
from servers.mongo import REPLICA_SET

TITLE = "Jobs on MongoDB's protocol"
BATCH = 100
SPEC = JobSpec("nothing", PAYLOAD)
WANTED = Wanted(("default",), frozenset({"nothing"}), BATCH)
NODE = NodeId("bench:1")
ROUNDS = 5
INDEX = [("queue", 1), ("priority", -1), ("run_at", 1), ("_id", 1)]

new_settlement = fast_constructor(Settlement)


def run(*, quick: bool) -> dict[str, object]:
    """Jobs per second and milliseconds, ours and bare, and the ratios."""
    jobs = 1_000 if quick else 5_000
    with MongoInMemory.start() as server:
        rounds = [
            asyncio.run(_one_round(server.address, number, jobs))
            for number in range(1 if quick else ROUNDS)
        ]
    figures: dict[str, object] = {}
    for name in ("submit_one", "submit_batch", "drain"):
        for kind in ("", "_bare"):
            rate = statistics.median(each[f"{name}{kind}"] for each in rounds)
            figures[f"{name}{kind}_per_second"] = round(rate)
        ratio = statistics.median(each[name] / each[f"{name}_bare"] for each in rounds)
        figures[f"{name}_to_bare"] = round(ratio, 2)
    rate = statistics.median(each["drain_guarded_bare"] for each in rounds)
    figures["drain_guarded_bare_per_second"] = round(rate)
    ratio = statistics.median(each["drain"] / each["drain_guarded_bare"] for each in rounds)
    figures["drain_to_guarded_bare"] = round(ratio, 2)
    with MongoInMemory.start(REPLICA_SET) as server:
        figures |= _picked_up(server.address, 20 if quick else 200, 1 if quick else ROUNDS)
    return figures


def _picked_up(address: str, count: int, rounds: int) -> dict[str, object]:
    """The waits, ours and bare, round by round, and the ratio of the medians of each round."""
    waits: dict[str, list[float]] = {"": [], "_bare": []}
    ratios: list[float] = []
    for number in range(rounds):
        bare = asyncio.run(_pick_up_bare(address, f"bare-{number}", count))
        ours = asyncio.run(_pick_up(address, f"ours-{number}", count))
        waits["_bare"] += bare
        waits[""] += ours
        ratios.append(statistics.median(ours) / statistics.median(bare))
    figures: dict[str, object] = {}
    for kind, each in waits.items():
        figures[f"pick_up{kind}_p50_ms"] = round(statistics.median(each), 2)
        figures[f"pick_up{kind}_p99_ms"] = round(statistics.quantiles(each, n=100)[-1], 2)
    return figures | {"pick_up_to_bare": round(statistics.median(ratios), 2)}


async def _one_round(address: str, number: int, jobs: int) -> dict[str, float]:
    bare = await _bare(address, f"bare-{number}", jobs)
    return bare | await _ours(address, f"ours-{number}", jobs)


async def _ours(address: str, namespace: str, jobs: int) -> dict[str, float]:
    store = MongoStore(address, SystemClock(), namespace)
    await store.open()

    async def submit(count: int) -> None:
        await store.jobs.insert([SPEC] * count)

    rates = await _submitted(submit, jobs, "")
    start = time.perf_counter()
    settled: list[Settlement] = []
    done = 0
    while (taken := await store.jobs.take(WANTED, NODE, settled)).attempts:
        settled = [_completion(attempt) for attempt in taken.attempts]
        done += len(settled)
    rates["drain"] = done / (time.perf_counter() - start)
    await store.close()
    return rates


async def _bare(address: str, namespace: str, jobs: int) -> dict[str, float]:
    store = MongoStore(address, SystemClock(), namespace)
    await store.open()  # for its connections, with their guarantees
    with store.server.calls() as collections:
        await collections["bare"].create_index(INDEX)
        rates = await _submitted(lambda count: _submit(collections, count), jobs, "_bare")
        rates["drain_bare"] = await _drained(collections)
        await collections["bare"].update_many({}, {"$set": {"status": "queued"}})
        rates["drain_guarded_bare"] = await _drained(collections, guarded=True)
    await store.close()
    return rates


async def _drained(collections: Collections, *, guarded: bool = False) -> float:
    """The rate of claiming and completing all jobs."""
    start = time.perf_counter()
    done = 0
    while held := await _exchange(collections, done, guarded=guarded):
        done += held
    return done / (time.perf_counter() - start)


async def _submitted(
    submit: Callable[[int], Awaitable[None]], jobs: int, kind: str
) -> dict[str, float]:
    """The rates of jobs submitted singly, one after the other, and in batches."""
    singly = jobs // 10
    start = time.perf_counter()
    for _ in range(singly):
        await submit(1)
    between = time.perf_counter()
    for _ in range(jobs // BATCH):
        await submit(BATCH)
    end = time.perf_counter()
    return {
        f"submit_one{kind}": singly / (between - start),
        f"submit_batch{kind}": jobs / (end - between),
    }


async def _submit(collections: Collections, count: int) -> None:
    found = await collections["numbers"].find_one_and_update(
        {"_id": "bare"}, {"$inc": {"last": count}}, upsert=True, return_document=True
    )
    assert found is not None, "it was written"
    first = found["last"] - count
    documents: list[Document] = [
        {
            "_id": first + number,
            "queue": "default",
            "priority": 0,
            "run_at": first,
            "payload": PAYLOAD,
            "status": "queued" if count == 1 else "prepared",
        }
        for number in range(count)
    ]
    if count == 1:
        await collections["bare"].insert_one(documents[0])
        return
    decision = ObjectId()
    await collections["decided"].insert_one({"_id": decision})
    await collections["bare"].bulk_write([InsertOne(each) for each in documents])
    await collections["decided"].update_one({"_id": decision}, {"$set": {"state": "committed"}})
    ids = {"_id": {"$gte": first, "$lt": first + count}}
    await collections["bare"].update_many(ids, {"$set": {"status": "queued"}})
    await collections["decided"].delete_one({"_id": decision})


async def _exchange(collections: Collections, done: int, *, guarded: bool = False) -> int:
    """Complete what the last call has claimed, and claim the next."""
    bare = collections["bare"]
    was_running: Document = {"status": "running"} if guarded else {}
    was_queued: Document = {"status": "queued"} if guarded else {}
    if done:
        finished = {"$set": {"status": "completed"}}
        held = [
            UpdateOne({"_id": each, **was_running}, finished) for each in range(done - BATCH, done)
        ]
        await bare.bulk_write(held, ordered=False)
    queued = {"status": "queued", "queue": {"$in": ["default"]}}
    found = await bare.find(queued).sort(INDEX[1:]).limit(BATCH).to_list()
    await collections["queues"].find({}).to_list()
    if not found:
        return 0
    running = {"$set": {"status": "running"}}
    held = [UpdateOne({"_id": each["_id"], **was_queued}, running) for each in found]
    await bare.bulk_write(held)
    return len(found)


async def _pick_up(address: str, namespace: str, count: int) -> list[float]:
    """The milliseconds from a submission to its claim through another store, one at a time."""
    clock = SystemClock()
    one, other = (MongoStore(address, clock, namespace) for _ in range(2))
    await one.open()
    await other.open()
    hint = asyncio.Event()
    unsubscribe = other.subscribe(Topic.JOBS, hint.set)
    waits: list[float] = []
    settled: list[Settlement] = []
    for _ in range(count):
        await clock.sleep(0.02)
        start = time.perf_counter()
        await one.jobs.insert([SPEC])
        while not (taken := await other.jobs.take(WANTED, NODE, settled)).attempts:
            settled = []
            await hint.wait()
            hint.clear()
        waits.append((time.perf_counter() - start) * 1000)
        settled = [_completion(attempt) for attempt in taken.attempts]
    unsubscribe()
    await one.close()
    await other.close()
    return waits


async def _pick_up_bare(address: str, namespace: str, count: int) -> list[float]:
    """The same with bare pymongo, which waits for the change stream itself."""
    clock = SystemClock()
    one, other = (MongoStore(address, clock, namespace) for _ in range(2))
    await one.open()  # for their connections, with their guarantees
    await other.open()
    waits: list[float] = []
    with one.server.calls() as here, other.server.calls() as there:
        await here["bare"].create_index(INDEX)
        async with await there["hints"].watch() as stream:
            for _ in range(count):
                await clock.sleep(0.02)
                start = time.perf_counter()
                await _submit(here, 1)
                hint = {"$inc": {"count": 1}}
                await here["hints"].update_one({"_id": "jobs"}, hint, upsert=True)
                await stream.next()
                assert await _exchange(there, 0) == 1, "it claims the job"
                waits.append((time.perf_counter() - start) * 1000)
    await one.close()
    await other.close()
    return waits


def _completion(attempt: Attempt) -> Settlement:
    return new_settlement(attempt.hold, Change.COMPLETE)
