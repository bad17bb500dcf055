"""The SQLite store beside the memory store, which is the specification: whatever is asked of both,
both answer the same."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.ports.store import Store

from .depth import PATIENCE, examples
from .hand_clock import HandClock
from .job_driver import Driver, stay
from .job_steps import steps
from .sqlite_wholeness import check_whole

pytestmark = pytest.mark.timeout(PATIENCE)


async def compare(path: Path, steps: Sequence[object]) -> None:
    clock = HandClock()
    current = SqliteStore(path, clock)

    async def reopen(_store: Store) -> Store:
        nonlocal current
        await current.close()
        check_whole(path)
        current = SqliteStore(path, clock)
        return current

    ours, theirs = Driver(current, reopen), Driver(MemoryStore(clock), stay)
    try:
        await current.open()
        for step in steps:
            assert await ours.do(step) == await theirs.do(step), step
        seen, expected = await ours.look(), await theirs.look()
        assert seen == expected
    finally:
        await current.close()
    check_whole(path)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=5, max_size=30))
def test_both_stores_answer_the_same(steps: Sequence[object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare(Path(folder) / "drumbeat.db", steps))
