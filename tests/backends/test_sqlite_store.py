"""The SQLite store against the suite of all stores."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.ports.store import Store
from drumbeat.testing.conformance import StoreConformance, StoreTraits

from .hand_clock import HandClock
from .sqlite_wholeness import check_whole


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = SqliteStore(tmp_path / "drumbeat.db", HandClock())
        await store.open()
        yield store
        await store.close()
        check_whole(tmp_path / "drumbeat.db")

    @pytest.fixture
    def traits(self, store: Store, tmp_path: Path) -> StoreTraits:
        @asynccontextmanager
        async def another() -> AsyncGenerator[Store]:
            other = SqliteStore(tmp_path / "drumbeat.db", HandClock())
            await other.open()
            try:
                yield other
            finally:
                await other.close()

        return StoreTraits(another)
