"""A process of its own on a SQLite file: what it does and says is in its arguments.

`python sqlite_child.py MODE PATH [NAME]`; it says one line of JSON at a time.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import timedelta
from pathlib import Path

from drumbeat.backends.sqlite.connection.log.log_file import LogFile
from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.coordinator import coordinator as coordinators
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.backends.sqlite.store import store as stores
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Change, JobSpec, Limit, Settlement, Wanted
from drumbeat.ports.store import Topic

TTL = timedelta(seconds=4)
LARGE = JobSpec("send", b"x" * 100_000)
WANTED = Wanted(("default",), frozenset({"send"}), 7)


def say(word: object) -> None:
    sys.stdout.write(f"{json.dumps(word)}\n")
    sys.stdout.flush()


async def take_all(path: Path, name: str) -> None:
    """Claim and settle until nothing is left, and wait for a word before that.

    It waits for another once it has its first jobs, so that nobody has all of them.
    """
    store = SqliteStore(path, SystemClock())
    await store.open()
    say("ready")
    sys.stdin.readline()
    settled: list[Settlement] = []
    taken: list[int] = []
    while True:
        batch = (await store.jobs.take(WANTED, NodeId(name), settled)).attempts
        if not batch:
            break
        if not taken:
            say("begun")
            sys.stdin.readline()
        taken += [attempt.job_id for attempt in batch]
        settled = [Settlement(attempt.hold, Change.COMPLETE) for attempt in batch]
    say(taken)
    await store.close()


async def churn(path: Path, name: str) -> None:
    """Insert, claim, settle in every way, until it is killed; say what was acknowledged."""
    store = SqliteStore(path, SystemClock())
    changes = [Change.COMPLETE, Change.RETRY, Change.FAIL, Change.SNOOZE, Change.GIVE_BACK]
    settled: list[Settlement] = []
    while True:
        limited = JobSpec("send", limits=(Limit("door", 5),))
        verdicts = await store.jobs.insert([JobSpec("send"), limited, limited])
        say([verdict.job.id for verdict in verdicts])
        taken = await store.jobs.take(WANTED, NodeId(name), settled)
        settled = [
            Settlement(attempt.hold, changes[attempt.job_id % 5], result=b"1")
            for attempt in taken.attempts
        ]


async def hear(path: Path, _name: str) -> None:
    """Say that it listens, then say so when a hint comes."""
    store = SqliteStore(path, SystemClock())
    await store.open()
    heard = asyncio.Event()
    store.subscribe(Topic.JOBS, heard.set)
    say("ready")
    await heard.wait()
    say("heard")
    await store.close()


async def lead(path: Path, name: str) -> None:
    """Hold a lease until it is killed; say since when, by the clock of all processes."""
    clock = SystemClock()
    coordinator = SqliteCoordinator(path, clock)
    await coordinator.open()
    since = clock.elapsed()
    lease = await coordinator.leases.acquire("scheduler", NodeId(name), TTL)
    say([lease is not None and lease.token, since])
    await asyncio.Event().wait()


async def submit(path: Path, _name: str) -> None:
    """Submit two megabytes of jobs and close the file, as a short-lived script does."""
    store = SqliteStore(path, SystemClock())
    await store.jobs.insert([LARGE] * 20)
    await store.close()
    say("closed")


async def vanish(path: Path, _name: str) -> None:
    """Submit two megabytes of jobs and exit without closing anything."""
    store = SqliteStore(path, SystemClock())
    await store.jobs.insert([LARGE] * 20)
    say("leaving")
    os._exit(0)


async def flood(path: Path, _name: str) -> None:
    """Submit 48 megabytes of jobs, one megabyte in each commit; say how long the log became."""
    store = SqliteStore(path, SystemClock())
    await store.open()
    say("ready")
    sys.stdin.readline()
    longest = 0
    for _ in range(48):
        await store.jobs.insert([LARGE] * 10)
        longest = max(longest, LogFile(path).size())
    say(longest)
    await store.close()
    say("closed")


MODES = {
    "take": take_all,
    "churn": churn,
    "hear": hear,
    "lead": lead,
    "submit": submit,
    "vanish": vanish,
    "flood": flood,
}

if __name__ == "__main__":
    # Whoever has the file may be held up by a busy machine, and is waited for.
    stores.PATIENCE = coordinators.PATIENCE = 60.0
    mode, path, name = sys.argv[1:]
    asyncio.run(MODES[mode](Path(path), name))
