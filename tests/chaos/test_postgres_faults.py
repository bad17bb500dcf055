"""Whole apps on a PostgreSQL server that fails: nothing is lost and nothing doubled.

Where it matters, each node is a separate process. Each test ends with `settle`: every acknowledged
job has completed once, and every tick has fired once.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from itertools import count
from os import getpid
from pathlib import Path
from typing import Any

import psycopg
import pytest

from drumbeat import Drumbeat
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock, SystemRuntime
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import ClockSkewed, LeadershipLost, ServiceFailed
from drumbeat.model.ids import label_of
from servers import Pgbouncer, Postgres
from tests.chaos.fleet import (
    SOON,
    TTL,
    Fleet,
    answered,
    clock,
    drop,
    fleet_on,
    open_fleet,
    unharmed_fleet_on,
    until,
)
from tests.support.postgres_namespace import ask, tell

_serial = count(1)
pytestmark = pytest.mark.timeout(600)
OTHERS = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
KILL_OTHERS = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OTHERS}"
SYNCHRONOUS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
HELD_BACK = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture
def namespace(postgres: Postgres) -> Iterator[str]:
    name = new_name()
    yield name
    drop(postgres.address, name)


def new_name() -> str:
    return f"chaos_{getpid()}_{next(_serial)}"


def reconfigure(server: Postgres, setting: str) -> None:
    tell(server.address, f"ALTER SYSTEM SET {setting}")
    tell(server.address, "SELECT pg_reload_conf()")


class TestServer:
    async def test_killed_connections_lose_nothing(
        self, postgres: Postgres, tmp_path: Path
    ) -> None:
        with Postgres.start() as server:
            async with unharmed_fleet_on(server.address, new_name(), tmp_path) as fleet:
                killed = times = 0
                async with fleet.submitter.submitting():
                    while killed <= 50 or times < 15:  # of the nodes and of the client
                        await fleet.ran(10)
                        killed += len(ask(server.address, KILL_OTHERS))
                        times += 1
                await fleet.settle()

    async def test_a_promoted_standby_takes_over_with_all_that_was_acknowledged(
        self, tmp_path: Path
    ) -> None:
        with Postgres.start() as primary, Postgres.standby_of(primary) as standby:
            reconfigure(primary, "synchronous_standby_names = '*'")
            await until(lambda: ask(primary.address, SYNCHRONOUS) == [(1,)])
            hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
            address = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"
            async with fleet_on(address, new_name(), tmp_path) as fleet:
                async with fleet.submitter.submitting():
                    await fleet.ran(50)
                    fleet.excuse_reruns()
                    primary.kill()
                    await until(lambda: bool(fleet.submitter.errors))
                    await asyncio.to_thread(standby.promote)
                    await fleet.acknowledged(50)
                    await fleet.ran(50)
                await fleet.settle()

    async def test_a_server_that_is_read_only_for_a_while_is_named_and_then_used_again(
        self, tmp_path: Path
    ) -> None:
        with Postgres.start() as server:
            async with fleet_on(server.address, new_name(), tmp_path) as fleet:
                async with fleet.submitter.submitting():
                    await fleet.ran(20)
                    fleet.excuse_reruns()
                    reconfigure(server, "default_transaction_read_only = on")
                    errors, words = fleet.submitter.errors, "this server is read-only"
                    await until(lambda: any(words in str(error) for error in errors))
                    with psycopg.connect(server.address, autocommit=True) as connection:
                        connection.execute("SET default_transaction_read_only = off")
                        connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
                        connection.execute("SELECT pg_reload_conf()")
                    await fleet.acknowledged(50)
                await fleet.settle()

    async def test_a_standby_as_the_store_is_rejected_and_the_doctor_reports_it(
        self, tmp_path: Path
    ) -> None:
        with Postgres.start() as primary:
            name = new_name()
            async with unharmed_fleet_on(primary.address, name, tmp_path) as fleet:
                with Postgres.standby_of(primary) as standby:
                    app = Drumbeat(standby.address, namespace=name, environment={})
                    with pytest.raises(Unavailable, match=r"read-only: .* name the primary"):
                        await app.start()
                    await app.store.close()
                    seen = await asyncio.to_thread(diagnose, standby.address, name)
                    assert not seen["store"]["ok"]
                    assert "name the primary in the address" in seen["store"]["seen"]
                seen = await asyncio.to_thread(diagnose, primary.address, name)
                assert seen["store"]["ok"]
                await fleet.submitter.submit()
                await fleet.ran(10)
                await fleet.settle()

    async def test_a_locked_table_delays_work_and_loses_nothing(
        self, postgres: Postgres, namespace: str, tmp_path: Path
    ) -> None:
        async with fleet_on(postgres.address, namespace, tmp_path) as fleet:
            async with fleet.submitter.submitting():
                await fleet.ran(20)
                with psycopg.connect(postgres.address) as connection:
                    lock = f'LOCK TABLE "{namespace}".jobs'.encode()
                    await asyncio.to_thread(
                        connection.execute, lock
                    )  # may wait for statements of the fleet
                    await until(lambda: bool(ask(postgres.address, HELD_BACK)[0][0]))
                    fleet.excuse_reruns()
                    await clock.sleep(1.5 * TTL)  # until no node counts as alive
                await fleet.acknowledged(50)
            await fleet.settle()

    async def test_an_open_transaction_delays_nothing(
        self, postgres: Postgres, namespace: str, tmp_path: Path
    ) -> None:
        async with unharmed_fleet_on(postgres.address, namespace, tmp_path) as fleet:
            with psycopg.connect(postgres.address) as connection:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                connection.execute(f'SELECT count(*) FROM "{namespace}".jobs'.encode())
                for _ in range(200):
                    await fleet.submitter.submit()
                async with fleet.submitter.submitting():
                    await fleet.acknowledged(100)
                await fleet.settle()  # while it is still open


class TestPooler:
    async def test_a_fleet_behind_pgbouncer_outlives_its_leader_and_a_restart_of_it(
        self, postgres: Postgres, namespace: str, tmp_path: Path
    ) -> None:
        with Pgbouncer.start(postgres) as pgbouncer:
            async with fleet_on(pgbouncer.address, namespace, tmp_path) as fleet:
                async with fleet.submitter.submitting():
                    first = await fleet.leader()
                    await fleet.ran(50)
                    fleet.kill(label_of(first.holder))
                    await fleet.leader(other_than=first)
                    pgbouncer.kill()
                    await until(lambda: bool(fleet.submitter.errors))
                    await asyncio.to_thread(pgbouncer.start_again)
                    await fleet.acknowledged(50)
                await fleet.settle()

    async def test_an_exhausted_pool_raises_an_error_and_recovers(
        self, postgres: Postgres, namespace: str, tmp_path: Path
    ) -> None:
        limits = Limits(connections=2, patience=0.3)
        store = PostgresStore(postgres.address, SystemClock(), namespace, limits)
        fleet = Fleet(postgres.address, namespace, tmp_path)
        async with node(fleet, store) as app, fleet.client.connected():
            failures: list[ServiceFailed] = []
            app.on(ServiceFailed)(failures.append)
            lost: list[LeadershipLost] = []
            app.on(LeadershipLost)(lost.append)
            await until(lambda: app.leadership.is_leader)
            await fleet.submitter.submit()
            async with AsyncExitStack() as callers:
                for _ in range(limits.connections):  # the node may be using them
                    await answered(lambda: callers.enter_async_context(store.database.borrow()))
                with pytest.raises(Unavailable, match="all 2 connections are busy"):
                    await app.jobs.counts()
                await fleet.submitter.submit()
                fleet.excuse_reruns()
                # The node resigns, so that a node that reaches the store can lead.
                away, busy = "the store cannot be reached", "all 2 connections are busy"
                await until(lambda: any(away in each.reason for each in lost))
                await until(lambda: any(busy in str(each.error) for each in failures))
            await until(lambda: app.leadership.is_leader)
            await fleet.submitter.submit()
            await fleet.settle()
        await store.close()


class TestClocks:
    @pytest.mark.parametrize("hours", [1, pytest.param(-1, marks=pytest.mark.chaos)])
    async def test_a_leader_whose_clock_is_wrong_resigns_and_fires_nothing(
        self, postgres: Postgres, namespace: str, tmp_path: Path, hours: int
    ) -> None:
        fleet = Fleet(postgres.address, namespace, tmp_path).unharmed()
        skew = timedelta(hours=hours)
        app = fleet.app_here(postgres.address, Skewed(skew))
        skewed: list[ClockSkewed] = []
        app.on(ClockSkewed)(skewed.append)
        lost: list[LeadershipLost] = []
        app.on(LeadershipLost)(lost.append)

        def resignations() -> list[str]:
            """The reasons of all resignations because of an observed skew."""
            skews = [f"its clock is {each.skew.total_seconds():+.1f} s" for each in skewed]
            return [each.reason for each in lost if any(said in each.reason for said in skews)]

        async with app.running(), open_fleet(fleet):
            await until(lambda: len(resignations()) >= 2)  # however often it is elected
            assert all(abs(each.skew - skew) < timedelta(seconds=SOON) for each in skewed)
            assert await fleet.ticks() == []
            fleet.start("right")
            await until(lambda: not app.leadership.is_leader)
            await fleet.submitter.submit()
            await fired(fleet, 3)
            await fleet.settle()
            assert {label_of(tick.leader) for tick in await fleet.ticks() if tick.leader} == {
                "right"
            }

    @pytest.mark.chaos
    @pytest.mark.parametrize("seconds", [-3, 3])
    async def test_a_leader_whose_clock_is_a_little_wrong_fires_no_tick_early(
        self, postgres: Postgres, namespace: str, tmp_path: Path, seconds: int
    ) -> None:
        fleet = Fleet(postgres.address, namespace, tmp_path).unharmed()
        runtime = Skewed(timedelta(seconds=seconds))
        async with node(fleet, postgres.address, runtime), fleet.client.connected():
            await fleet.submitter.submit()
            await fired(fleet, 3)
            await fleet.settle()


class SkewedClock(SystemClock):
    """The machine's clock with a skew."""

    def __init__(self, skew: timedelta) -> None:
        self._skew = skew

    def now(self) -> datetime:
        return super().now() + self._skew


class Skewed(SystemRuntime):
    """The machine's runtime with a skewed clock."""

    def __init__(self, skew: timedelta) -> None:
        super().__init__()
        self.clock = SkewedClock(skew)


@asynccontextmanager
async def node(
    fleet: Fleet, store: str | PostgresStore, runtime: SystemRuntime | None = None
) -> AsyncGenerator[Drumbeat]:
    """A node of the fleet in this process."""
    app = fleet.app_here(store, runtime)
    async with app.running():
        yield app


async def fired(fleet: Fleet, ticks: int) -> None:
    """Return when this many ticks are in the ledger."""
    async with asyncio.timeout(SOON):
        while len(await fleet.ticks()) < ticks:
            await clock.sleep(0.1)


def diagnose(address: str, namespace: str) -> dict[str, dict[str, Any]]:
    """The result of `drumbeat doctor`, by check."""
    arguments = ["--store", address, "--namespace", namespace, "doctor", "-o", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "drumbeat", *arguments], capture_output=True, check=False
    )
    return {each["check"]: each for each in json.loads(done.stdout)}
