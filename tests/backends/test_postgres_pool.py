"""The pool of connections: taken in turn, given back whole, and ended with their loop."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from drumbeat.backends.postgres.connection import pool
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.testing.conformance.builders import let_others_run
from servers import Postgres
from tests.support.postgres_namespace import ask, until

from .hand_clock import HandClock

SOON = 40.0
ONE, TWO = (Limits(number, patience=SOON, connecting=SOON) for number in (1, 2))
SLEEPING = (
    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%sleep(30)' AND state = 'active'"
)


class TestPool:
    async def test_connections_are_opened_on_demand_and_used_again(
        self, database: Database, postgres: Postgres
    ) -> None:
        pids = {await database.fetch_value("SELECT pg_backend_pid()") for _ in range(20)}
        assert len(pids) == 1
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(database.fetch_value("SELECT pg_backend_pid()"))
                for _ in range(50)
            ]
        assert 1 < len({task.result() for task in tasks}) <= 4

    async def test_whoever_waits_too_long_is_told_that_all_are_busy(
        self, postgres: Postgres, namespace: str
    ) -> None:
        clock = HandClock()
        database = Database(postgres.address, clock, namespace, Limits(connections=1))
        async with database.borrow():
            waiting = asyncio.ensure_future(database.fetch("SELECT 1"))
            await let_others_run()
            await clock.advance(timedelta(seconds=5))
            with pytest.raises(Unavailable, match="all 1 connections are busy"):
                await waiting
        assert await database.fetch_value("SELECT 1") == 1
        await database.close()

    async def test_those_who_wait_are_served_in_turn(
        self, postgres: Postgres, namespace: str
    ) -> None:
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        served: list[int] = []

        async def ask_as(number: int) -> None:
            await database.fetch("SELECT 1")
            served.append(number)

        async with asyncio.TaskGroup() as group, database.borrow():
            for number in range(5):
                group.create_task(ask_as(number))
            await let_others_run()
        assert served == [0, 1, 2, 3, 4]
        await database.close()

    async def test_a_connection_is_not_lost_with_a_waiter_that_was_cancelled(
        self, postgres: Postgres, namespace: str
    ) -> None:
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        async with database.borrow():
            waiting = asyncio.ensure_future(database.fetch("SELECT 1"))
            await let_others_run()
        waiting.cancel()  # the connection was handed to it in this very moment
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(SOON):
            assert await database.fetch_value("SELECT 1") == 1
        await database.close()

    async def test_a_cancelled_caller_ends_its_statement_and_harms_nobody(
        self, postgres: Postgres, namespace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "RECOVERY", SOON)  # a busy server may cancel it late
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        first = await database.fetch_value("SELECT pg_backend_pid()")
        sleeping = asyncio.ensure_future(database.fetch("SELECT pg_sleep(30)"))
        await until(lambda: ask(postgres.address, SLEEPING) == [(1,)])
        sleeping.cancel()
        async with asyncio.timeout(SOON):
            with pytest.raises(asyncio.CancelledError):
                await sleeping
            assert await database.fetch_value("SELECT pg_backend_pid()") == first
        assert ask(postgres.address, SLEEPING) == [(0,)]
        await database.close()

    async def test_nobody_gets_a_connection_whose_statement_still_runs(
        self, postgres: Postgres, namespace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "RECOVERY", 2 * SOON)
        database = Database(postgres.address, SystemClock(), namespace, TWO)
        stuck = int(await database.fetch_value("SELECT pg_backend_pid()"))
        sleeping = asyncio.ensure_future(database.fetch("SELECT pg_sleep(30)"))
        await until(lambda: ask(postgres.address, SLEEPING) == [(1,)])
        os.kill(stuck, signal.SIGSTOP)  # it does not hear that it is to be cancelled
        try:
            sleeping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sleeping
            async with asyncio.timeout(SOON):
                assert await database.fetch_value("SELECT pg_backend_pid()") != stuck
        finally:
            os.kill(stuck, signal.SIGCONT)
        await until(lambda: ask(postgres.address, SLEEPING) == [(0,)])
        await database.close()

    async def test_a_caller_that_is_cancelled_after_the_pool_was_closed_leaves_nothing_behind(
        self, postgres: Postgres, namespace: str
    ) -> None:
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        late = asyncio.create_task(database.fetch("SELECT pg_sleep(30)"))
        await until(lambda: ask(postgres.address, SLEEPING) == [(1,)])
        await database.close()
        late.cancel()
        await asyncio.wait([late], timeout=SOON)
        assert not [task for task in asyncio.all_tasks() if "_mend" in repr(task)]

    async def test_a_transaction_that_was_left_open_is_over(self, hasty: Database) -> None:
        async with hasty.borrow() as connection:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            await connection.execute("BEGIN")
        async with hasty.borrow() as connection:
            assert not connection.is_in_transaction()
            assert await connection.fetchval("SELECT pg_backend_pid()") != pid

    async def test_a_cancelled_transaction_is_rolled_back(self, hasty: Database) -> None:
        table = f"{hasty.schema}.configuration"

        async def half() -> None:
            async with hasty.borrow() as connection, connection.transaction():
                await connection.execute(f"INSERT INTO {table} VALUES ('key', '', 1)")
                await asyncio.Event().wait()

        task = asyncio.ensure_future(half())
        active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        while await hasty.fetch_value(active) == 0:
            await let_others_run()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await hasty.fetch_value(f"SELECT count(*) FROM {table}") == 0

    @pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # that loop's, and it is over
    async def test_connections_of_a_loop_that_ended_are_let_go(
        self, database: Database, postgres: Postgres
    ) -> None:
        here = await database.fetch_value("SELECT pg_backend_pid()")
        there = await asyncio.to_thread(
            asyncio.run, database.fetch_value("SELECT pg_backend_pid()")
        )
        assert there != here
        again = await asyncio.to_thread(asyncio.run, database.fetch_value("SELECT 1"))
        assert again == 1
        gc.collect()
        gone = f"SELECT count(*) FROM pg_stat_activity WHERE pid = {there}"
        await until(lambda: ask(postgres.address, gone) == [(0,)])
        assert await database.fetch_value("SELECT pg_backend_pid()") == here
        await database.close()
        gc.collect()

    async def test_connections_of_a_loop_that_still_runs_are_closed_there(
        self, database: Database, postgres: Postgres
    ) -> None:
        asked, closed = threading.Event(), threading.Event()

        async def elsewhere() -> None:
            await database.fetch("SELECT 1 AS elsewhere")
            asked.set()
            await asyncio.to_thread(closed.wait, SOON)

        thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
        thread.start()
        await asyncio.to_thread(asked.wait, SOON)
        await database.close()
        seen = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%AS elsewhere'"
        await until(lambda: ask(postgres.address, seen) == [(0,)])
        closed.set()
        await asyncio.to_thread(thread.join)

    async def test_a_forked_process_leaves_its_parents_connections_alone(
        self, postgres: Postgres, namespace: str
    ) -> None:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", FORKING, postgres.address, namespace],
            capture_output=True,
            text=True,
            check=True,
            timeout=SOON,
        )
        before, child, after = done.stdout.split()
        assert before == after
        assert child != before


FORKING = """
import asyncio, os, sys
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.backends.postgres.connection.database import Database

async def main() -> None:
    database = Database(sys.argv[1], SystemClock(), sys.argv[2])
    process = lambda: database.fetch_value("SELECT pg_backend_pid()")
    print(await process(), flush=True)
    child = os.fork()
    if child == 0:
        async def inside() -> None:
            print(await process(), flush=True)
            await database.close()
        asyncio.run(inside())
        os._exit(0)
    os.waitpid(child, 0)
    print(await process(), flush=True)
    await database.close()

asyncio.run(main())
"""
