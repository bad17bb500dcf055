"""The SQLite coordinator against the suite of all coordinators."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from drumbeat.coordinators.sqlite import SqliteCoordinator
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits

from .hand_clock import HandClock

TTL = timedelta(seconds=10)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


class TestSqliteCoordinator(CoordinatorConformance):
    @pytest.fixture
    async def coordinator(self, tmp_path: Path, clock: HandClock) -> AsyncIterator[Coordinator]:
        coordinator = SqliteCoordinator(tmp_path / "drumbeat.db", clock)
        await coordinator.open()
        yield coordinator
        await coordinator.close()

    @pytest.fixture
    def traits(
        self, coordinator: Coordinator, tmp_path: Path, clock: HandClock
    ) -> CoordinatorTraits:
        @asynccontextmanager
        async def another() -> AsyncGenerator[Coordinator]:
            other = SqliteCoordinator(tmp_path / "drumbeat.db", clock)
            await other.open()
            try:
                yield other
            finally:
                await other.close()

        return CoordinatorTraits(another, clock.advance, ttl=TTL, expires_within=TTL)
