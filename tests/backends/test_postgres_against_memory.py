"""The PostgreSQL store beside the memory store, which is the specification: whatever is asked of
both, both answer the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.ports.store import Store
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

from .depth import PATIENCE, examples
from .hand_clock import HandClock
from .job_driver import Driver, stay
from .job_steps import steps
from .postgres_wholeness import check_whole, empty

pytestmark = pytest.mark.timeout(PATIENCE)


async def compare(store: PostgresStore, steps: Sequence[object]) -> None:
    async def reopen(_store: Store) -> Store:
        await store.close()
        await store.open()
        return store

    ours, theirs = Driver(store, reopen), Driver(MemoryStore(HandClock()), stay)
    for step in steps:
        assert await ours.do(step) == await theirs.do(step), step
    seen, expected = await ours.look(), await theirs.look()
    assert seen == expected


def test_both_stores_answer_the_same(postgres: Postgres) -> None:
    with namespace_in(postgres.address) as namespace, asyncio.Runner() as runner:
        store = PostgresStore(postgres.address, HandClock(), namespace)
        runner.run(store.open())

        @settings(
            max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow]
        )
        @given(st.lists(steps, min_size=5, max_size=30))
        def test(steps: Sequence[object]) -> None:
            empty(postgres.address, namespace)
            runner.run(compare(store, steps))
            check_whole(postgres.address, namespace)

        try:
            test()
        finally:
            runner.run(store.close())
