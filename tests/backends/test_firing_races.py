"""A schedule that is edited, paused or removed during its fire: thousands of times, everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random  # noqa: TID251 - seeded, so that a run can be repeated

import pytest

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.ports.store import Store
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

from .firing_races import Races
from .hand_clock import HandClock
from .postgres_wholeness import check_whole as check_postgres
from .sqlite_wholeness import check_whole as check_sqlite

BATCH = 50
IN_MEMORY = 10_000
ON_DISK = 400


async def race(one: Store, other: Store, rounds: int) -> Counter[str]:
    """So many schedules in all, each raced once; every order must have come up."""
    orders: Counter[str] = Counter()
    for batch in range(rounds // BATCH):
        names = [f"batch {batch}, schedule {number}" for number in range(BATCH)]
        races = Races(one, other, names, Random(batch), token=batch + 1)
        await races.run()
        orders += races.orders
    assert orders["fired first"] + orders["changed first"] == rounds
    each = ("fired first", "changed first")
    assert all(orders[order] >= rounds / BATCH for order in each), orders  # in each batch
    assert orders["tried again"] > 0, "nobody was ever too late"
    return orders


@pytest.mark.timeout(400)
async def test_ten_thousand_changes_during_a_fire_in_memory() -> None:
    left = IN_MEMORY
    while left > 0:
        store = MemoryStore(HandClock())
        await race(store, store, min(left, 1_000))
        left -= 1_000


@asynccontextmanager
async def opened(*stores: Store) -> AsyncGenerator[None]:
    try:
        for store in stores:
            await store.open()
        yield
    finally:
        for store in stores:
            await store.close()


async def test_hundreds_of_changes_during_a_fire_in_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "drumbeat.db"
    one, other = (SqliteStore(path, HandClock()) for _ in range(2))
    async with opened(one, other):
        await race(one, other, ON_DISK)
    check_sqlite(path)


async def test_hundreds_of_changes_during_a_fire_in_postgres(postgres: Postgres) -> None:
    with namespace_in(postgres.address) as namespace:
        one, other = (PostgresStore(postgres.address, HandClock(), namespace) for _ in range(2))
        async with opened(one, other):
            await race(one, other, ON_DISK)
        check_postgres(postgres.address, namespace)
