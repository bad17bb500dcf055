"""The SQLite coordinator against the suite of all coordinators."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path

import pytest

from drumbeat.backends.sqlite.connection.hints.peer_folder import PeerFolder
from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.coordinator.coordinator import PATIENCE
from drumbeat.backends.sqlite.coordinator.leases import TIDY_EVERY
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from drumbeat.testing.conformance.builders import ANNE, BERT, node

from .conftest import AGES
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

    async def test_what_an_earlier_start_of_the_machine_wrote_is_over(
        self, coordinator: Coordinator, tmp_path: Path, clock: HandClock
    ) -> None:
        old = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert old is not None
        await coordinator.registry.register(node(), TTL)
        restarted = SqliteCoordinator(tmp_path / "drumbeat.db", clock, boot="another")
        assert await restarted.leases.current("scheduler") is None
        assert list(await restarted.registry.nodes()) == []
        assert await restarted.leases.renew(old) is None
        new = await restarted.leases.acquire("scheduler", BERT, TTL)
        assert new is not None
        assert new.token > old.token
        assert new.domain == old.domain
        assert await coordinator.leases.renew(old) is None
        await restarted.close()

    async def test_a_file_that_was_made_anew_is_another_domain(
        self, tmp_path: Path, clock: HandClock
    ) -> None:
        domains: set[str] = set()
        for name in ("one.db", "two.db"):
            other = SqliteCoordinator(tmp_path / name, clock)
            lease = await other.leases.acquire("scheduler", ANNE, TTL)
            assert lease is not None
            domains.add(lease.domain)
            await other.close()
        assert len(domains) == 2

    async def test_terms_that_ran_out_are_cleared_away_and_their_tokens_never_return(
        self, coordinator: Coordinator, tmp_path: Path, clock: HandClock
    ) -> None:
        tokens: list[int] = []
        for number in range(TIDY_EVERY + 5):
            lease = await coordinator.leases.acquire(f"lock {number}", ANNE, TTL)
            assert lease is not None
            tokens.append(lease.token)
            await clock.advance(TTL)
        assert tokens == sorted(set(tokens))
        connection = sqlite3.connect(tmp_path / "drumbeat.db")
        assert connection.execute("SELECT count(*) FROM leases").fetchone()[0] < 10
        connection.close()

    async def test_a_waiter_without_a_socket_polls_once_a_second(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def no_sockets(_folder: PeerFolder) -> None:
            raise PermissionError("no sockets here")

        monkeypatch.setattr(PeerFolder, "make", no_sockets)
        monkeypatch.setattr("drumbeat.backends.sqlite.connection.hints.receiver.POLL", 0.01)
        clock = HandClock()
        one = SqliteCoordinator(tmp_path / "drumbeat.db", clock)
        two = SqliteCoordinator(tmp_path / "drumbeat.db", clock)
        async with asyncio.timeout(40):
            watch = one.configuration.watch("key")
            assert await anext(watch) is None
            entry = await two.configuration.put("key", b"1")
            assert await anext(watch) == entry
        assert "polling once a second" in caplog.text
        await one.close()
        await two.close()

    async def test_a_lock_that_does_not_come_is_unavailable_before_a_term_is_over(
        self, tmp_path: Path, in_production: Callable[[], AbstractContextManager[None]]
    ) -> None:
        with in_production():
            coordinator = SqliteCoordinator(tmp_path / "drumbeat.db", HandClock())
        lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert lease is not None
        with closing(sqlite3.connect(tmp_path / "drumbeat.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            since = SystemClock().elapsed()
            async with asyncio.timeout(AGES / 2):
                with pytest.raises(Unavailable, match="locked"):
                    await coordinator.leases.renew(lease)
            assert SystemClock().elapsed() - since > 0.9 * PATIENCE
            other.execute("ROLLBACK")
        assert await coordinator.leases.renew(lease) == lease
        await coordinator.close()
