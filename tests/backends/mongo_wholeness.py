"""Whether a namespace of MongoDB is whole: nothing half done, and what is kept twice agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient
from pymongo.collection import Collection

from drumbeat.backends.mongo.schema.indexes import COLLECTIONS

FINAL = ("completed", "failed", "cancelled")


@contextmanager
def namespace_of(address: str, namespace: str) -> Generator[dict[str, Collection[dict[str, Any]]]]:
    """The collections of a namespace."""
    client: MongoClient[dict[str, Any]] = MongoClient(address)
    with client:
        database = client.get_default_database("drumbeat")
        yield {name: database[f"{namespace}.{name}"] for name in COLLECTIONS}


def empty(address: str, namespace: str) -> None:
    """Delete everything but the schema."""
    with namespace_of(address, namespace) as found:
        for name, collection in found.items():
            if name != "schema":
                collection.delete_many({})


def check_whole(address: str, namespace: str) -> None:
    """Fail if anything is half done, or does not agree with the jobs."""
    with namespace_of(address, namespace) as found:
        assert list(found["decisions"].find()) == []
        for name in ("jobs", "ticks", "schedules", "fence"):
            assert list(found[name].find({"decision": {"$exists": True}})) == [], name
        half = {"$or": [{"absent": True}, {"next": {"$exists": True}}]}
        assert list(found["schedules"].find(half)) == []
        jobs = list(found["jobs"].find())
        check_holders(jobs, list(found["limits"].find()))
        check_ledger(list(found["ticks"].find()))
    for job in jobs:
        check_job(job)


def check_job(job: dict[str, Any]) -> None:
    status = job["status"]
    assert status in ("pending", "queued", "running", *FINAL), job
    assert (status == "queued") == ("queued_at" in job), job
    assert (status in FINAL) == ("finished_at" in job), job
    assert status != "running" or (job["node"] and job["started_at"]), job
    assert "becomes" not in job, job
    assert not ("expires_at" in job and status in FINAL), job


def check_holders(jobs: list[dict[str, Any]], limits: list[dict[str, Any]]) -> None:
    """Each running job holds a place under each of its keys, and nobody else does."""
    held = {(key["_id"], each["job"], each["fence"]) for key in limits for each in key["holders"]}
    running = {
        (limit["key"], job["_id"], job["fence"])
        for job in jobs
        if job["status"] == "running"
        for limit in job.get("limits", ())
    }
    assert held == running
    for key in limits:
        assert len({each["job"] for each in key["holders"]}) == len(key["holders"])


def check_ledger(ticks: list[dict[str, Any]]) -> None:
    """Each tick fired at most once, and each job is of one tick."""
    fired = Counter((row["schedule"], row["tick_at"]) for row in ticks if row["outcome"] == "fired")
    assert all(count == 1 for count in fired.values()), fired
    of_rows = [row["job_id"] for row in ticks if row["outcome"] == "fired"]
    assert len(set(of_rows)) == len(of_rows)
