"""Instants in SQLite: none of them lies before the end of the wait for the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.model.jobs.job import JobSpec, Limit
from drumbeat.testing.conformance.builders import (
    ANNE,
    beat,
    insert,
    let_others_run,
    wanted,
)

from .hand_clock import START, HandClock

MINUTE = timedelta(minutes=1)


async def started_at(store: SqliteStore) -> object:
    (attempt,) = (await store.jobs.take(wanted(), ANNE)).attempts
    return attempt.started_at


async def beat_at(store: SqliteStore) -> object:
    await store.nodes.beat(beat())
    (node,) = await store.nodes.list()
    return node.beat_at


async def created_at(store: SqliteStore) -> object:
    (verdict,) = await store.jobs.insert([JobSpec("other")])
    return verdict.job.created_at


@pytest.mark.parametrize("written", [started_at, beat_at, created_at])
async def test_what_waited_for_another_process_is_written_down_as_of_the_end_of_the_wait(
    tmp_path: Path, written: Callable[[SqliteStore], Coroutine[Any, Any, object]]
) -> None:
    clock = HandClock()
    store = SqliteStore(tmp_path / "drumbeat.db", clock)
    await store.open()
    await insert(store, JobSpec("send", limits=(Limit("door", 1),)))
    other = sqlite3.connect(tmp_path / "drumbeat.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    task = asyncio.create_task(written(store))
    for _ in range(5):
        await let_others_run()
    await clock.advance(MINUTE)
    other.execute("ROLLBACK")
    other.close()
    assert await task == START + MINUTE
    await store.close()
