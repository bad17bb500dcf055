"""What one process does to the file leaves the locks of another alone."""

import subprocess
import sys
from pathlib import Path

from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.jobs.job import JobSpec

VISITOR = """
import asyncio, sys
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.backends.sqlite.store import SqliteStore

async def main():
    store = SqliteStore(sys.argv[1], SystemClock())
    await store.open()
    counts = await store.jobs.counts()
    await store.close()
    print(sum(sum(queue.values()) for queue in counts.values()))

asyncio.run(main())
"""


def visit(path: Path) -> int:
    """How many jobs another process finds, which opens the file, looks, and closes it."""
    done = subprocess.run(
        [sys.executable, "-c", VISITOR, path], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


async def test_a_visitor_that_leaves_takes_nothing_with_it(tmp_path: Path) -> None:
    """The log must outlive a visitor, and what is written after the visit must be found.

    Several handles are opened here one after the other, since whatever a process does when it
    opens one must not give up the locks of those it has.
    """
    path = tmp_path / "shared.db"
    clock = SystemClock()
    store = SqliteStore(path, clock)
    coordinator = SqliteCoordinator(path, clock)
    again = SqliteStore(path, clock)
    for handle in (store, coordinator, again):
        await handle.open()
    await store.jobs.insert([JobSpec("work")])
    assert visit(path) == 1
    assert path.with_name("shared.db-wal").exists()
    await store.jobs.insert([JobSpec("work")])
    await again.jobs.insert([JobSpec("work")])
    assert visit(path) == 3
    for handle in (store, coordinator, again):
        await handle.close()
    assert visit(path) == 3
