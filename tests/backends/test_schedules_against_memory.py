"""Schedules, ticks, epochs and heartbeats of every store beside the memory store's: whatever is
asked of both, both answer the same."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.ports.store import Store
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

from .depth import PATIENCE, examples
from .hand_clock import HandClock
from .postgres_wholeness import check_whole as check_postgres
from .postgres_wholeness import empty
from .schedule_steps import Claim, Driver, steps
from .sqlite_wholeness import check_whole as check_sqlite

pytestmark = pytest.mark.timeout(PATIENCE)

plans = st.lists(steps, min_size=5, max_size=30).map(lambda some: [Claim(1, "here"), *some])
usual = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


async def compare(store: Store, steps: Sequence[object]) -> None:
    ours, theirs = Driver(store), Driver(MemoryStore(HandClock()))
    for step in steps:
        assert await ours.do(step) == await theirs.do(step), step
    seen, expected = await ours.look(), await theirs.look()
    assert seen == expected


async def compare_sqlite(path: Path, steps: Sequence[object]) -> None:
    store = SqliteStore(path, HandClock())
    try:
        await compare(store, steps)
    finally:
        await store.close()


@usual
@given(plans)
def test_sqlite_and_memory_answer_the_same(steps: Sequence[object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drumbeat.db"
        asyncio.run(compare_sqlite(path, steps))
        check_sqlite(path)


def test_postgres_and_memory_answer_the_same(postgres: Postgres) -> None:
    with namespace_in(postgres.address) as namespace, asyncio.Runner() as runner:
        store = PostgresStore(postgres.address, HandClock(), namespace)
        runner.run(store.open())

        @usual
        @given(plans)
        def test(steps: Sequence[object]) -> None:
            empty(postgres.address, namespace)
            runner.run(compare(store, steps))
            check_postgres(postgres.address, namespace)

        try:
            test()
        finally:
            runner.run(store.close())
