"""Reads the whole content of a store, bypassing the simulated network."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Job
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import Outcome, TickRecord
from drumbeat.ports.store import Store
from simulation.history import Dump

PAGE = 500


async def dump(store: Store, schedules: Iterable[str]) -> Dump:
    """The content of the store, with the ledgers of these schedules even if they were removed."""
    present = await store.schedules.list(PageRequest(LARGEST_PAGE))
    names = dict.fromkeys((*(each.name for each in present.items), *schedules))
    ledger = {name: await _ledger(store, name) for name in names}
    return Dump(present.items, ledger, await _jobs(store))


async def _ledger(store: Store, name: str) -> list[TickRecord]:
    rows: list[TickRecord] = []
    after: str | None = None
    while True:
        page = await store.schedules.ticks(name, PageRequest(LARGEST_PAGE, after))
        rows += page.items
        after = page.next
        if after is None:
            return rows[::-1]


async def _jobs(store: Store) -> list[Job]:
    """All jobs: ids rise by one, and a world is too short for any job to be pruned."""
    jobs: list[Job] = []
    while True:
        ids = [JobId(len(jobs) + number) for number in range(1, PAGE + 1)]
        found = [job for job in await store.jobs.get(ids) if job is not None]
        jobs += found
        if len(found) < len(ids):
            return jobs


async def dump_separate_stores(stores: Iterable[tuple[str, Store]]) -> Dump:
    """Which process fired which tick, over the separate stores of all processes."""
    fires: dict[str, list[tuple[str, datetime, datetime]]] = {}
    for process, store in stores:
        present = await store.schedules.list(PageRequest(LARGEST_PAGE))
        for name in (each.name for each in present.items):
            fires.setdefault(name, []).extend(
                (process, row.tick_at, row.recorded_at)
                for row in await _ledger(store, name)
                if row.outcome is Outcome.FIRED
            )
    return Dump(fires=fires)
