"""Dump: all that a store holds, read past the network."""

from __future__ import annotations

from collections.abc import Iterable

from drumbeat.model.ids import JobId
from drumbeat.model.job import Job
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.plan import TickRecord
from drumbeat.stores.memory import MemoryStore
from drumbeat.testing.simulation.history import Dump

PAGE = 500


async def dump(store: MemoryStore, schedules: Iterable[str]) -> Dump:
    """What the store holds; the ledgers of these schedules, which may be gone."""
    present = await store.schedules.list(PageRequest(LARGEST_PAGE))
    names = dict.fromkeys((*(each.name for each in present.items), *schedules))
    ledger = {name: await _ledger(store, name) for name in names}
    return Dump(present.items, ledger, await _jobs(store))


async def _ledger(store: MemoryStore, name: str) -> list[TickRecord]:
    rows: list[TickRecord] = []
    after: str | None = None
    while True:
        page = await store.schedules.ticks(name, PageRequest(LARGEST_PAGE, after))
        rows += page.items
        after = page.next
        if after is None:
            return rows[::-1]


async def _jobs(store: MemoryStore) -> list[Job]:
    """Ids rise by one, and nothing is forgotten in so short a time."""
    jobs: list[Job] = []
    while True:
        ids = [JobId(len(jobs) + number) for number in range(1, PAGE + 1)]
        found = [job for job in await store.jobs.get(ids) if job is not None]
        jobs += found
        if len(found) < len(ids):
            return jobs
