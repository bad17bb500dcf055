"""Whichever write of a run goes wrong, before it is sent or before its answer comes: nothing is
lost, nothing is doubled, nothing is left half done.

The whole engine goes through one flow again and again, and each time another write is struck. On
PostgreSQL connections really end: the server ends them right before the write, or the wire is cut
when the server has done it and its answer is on the way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.ports.store import Store
from servers import FaultProxy, Postgres
from tests.support.postgres_namespace import ask, kill_connections, namespace_in, until

from .depth import DEEP, PATIENCE
from .faulty_store import Strike, Struck, Target, Write, answer_lost, never_sent
from .flow import BATCH, Flow, all_jobs
from .postgres_wholeness import check_whole as check_postgres
from .postgres_wholeness import empty
from .sqlite_wholeness import check_whole as check_sqlite

pytestmark = pytest.mark.timeout(PATIENCE)

MOST = 20
"""The flow takes about so many writes; how they fall depends on the moment."""
KINDS = (
    *(("schedules.put", 1), ("nodes.beat", 2), ("fence.claim", 1), ("jobs.insert", 1)),
    *(("jobs.insert", 3), ("jobs.take", 1), ("jobs.take", 2), ("jobs.cancel", 1)),
    *(("schedules.commit", 1), ("schedules.commit", 2), ("nodes.leave", 1)),
)
LONG_ENOUGH = 0.3
"""Seconds in which a write of the flow has happened, if it changes anything."""
OURS = "SELECT FROM pg_stat_activity WHERE application_name LIKE 'drumbeat%'"
CLOCK = SystemClock()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails is told to the log, which is not what this is about."""
    logger = logging.getLogger("drumbeat")
    disabled, logger.disabled = logger.disabled, True
    yield
    logger.disabled = disabled


@asynccontextmanager
async def opened(store: Store) -> AsyncGenerator[Store]:
    try:
        await store.open()
        yield store
    finally:
        await store.close()


async def go_through(store: Store, target: Target, strike: Strike) -> str | None:
    """The flow, with one write struck; which it was."""
    struck = Struck(store, target, strike)
    flow = Flow(struck.store)
    try:
        await flow.run()
        await flow.check(store)
    except (AssertionError, TimeoutError) as error:
        raise AssertionError(f"{target} was {struck.hit} by {strike}: {error!r}") from error
    return struck.hit


def strikes(first: Strike, second: Strike) -> list[tuple[Target, Strike]]:
    """Every write, struck in one of two ways by turns; in both if there is time for it."""
    targets = [Target(number) for number in range(1, MOST + 1)]
    both = [(target, strike) for target in targets for strike in (first, second)]
    return both if DEEP else [each for turn, each in enumerate(both) if turn % 4 in (0, 3)]


def strikes_of_each_kind(*strikes: Strike) -> list[tuple[Target, Strike]]:
    """Each kind of write that the flow always has."""
    return [(Target(number, kind), strike) for kind, number in KINDS for strike in strikes]


async def test_any_write_to_sqlite_may_fail_before_or_after_it_happened(tmp_path: Path) -> None:
    kinds = strikes_of_each_kind(never_sent, answer_lost)
    for number, (target, strike) in enumerate([*kinds, *strikes(never_sent, answer_lost)]):
        path = tmp_path / f"{number}.db"
        async with opened(SqliteStore(path, CLOCK)) as store:
            hit = await go_through(store, target, strike)
        check_sqlite(path)
        assert hit == (target.kind or hit), f"{target} was never struck"


async def test_any_connection_to_postgres_may_end_before_or_after_a_write(
    postgres: Postgres,
) -> None:
    with namespace_in(postgres.address) as namespace, FaultProxy.start(postgres.port) as proxy:
        behind = postgres.address.replace(f":{postgres.port}", f":{proxy.port}")
        assert behind != postgres.address

        async def connection_ended(write: Write) -> Any:
            kill_connections(postgres.address)
            return await write()

        async def answer_cut(write: Write) -> Any:
            before = changed(postgres, namespace)
            proxy.stall("to_client")
            writing = asyncio.ensure_future(write())
            writing.add_done_callback(lambda done: done.cancelled() or done.exception())
            try:
                async with asyncio.timeout(LONG_ENOUGH):
                    await until(lambda: changed(postgres, namespace) != before)
            except TimeoutError:
                pass  # it changed nothing
            finally:  # also if whoever asked has lost patience
                proxy.cut_all()
                proxy.heal()
            await writing
            raise Unavailable("the connection was cut")  # it was answered on another one

        targets = strikes_of_each_kind(connection_ended, answer_cut)
        targets += strikes(connection_ended, answer_cut) if DEEP else []
        for target, strike in targets:
            async with opened(PostgresStore(behind, CLOCK, namespace)) as store:
                empty(postgres.address, namespace)
                hit = await go_through(store, target, strike)
            # A write whose connection was cut may still be under way.
            await until(lambda: ask(postgres.address, OURS) == [])
            check_postgres(postgres.address, namespace)
            assert hit == (target.kind or hit), f"{target} was never struck"


def changed(postgres: Postgres, namespace: str) -> object:
    """Changes with every write that is committed."""
    tables = ("jobs", "archive", "schedules", "ticks", "nodes", "fence")
    looks = ", ".join(
        f'(SELECT (count(*), max(xmin::text::bigint)) FROM "{namespace}".{table})::text'
        for table in tables
    )
    return ask(postgres.address, f"SELECT {looks}")


async def test_the_flow_notices_a_write_that_was_done_by_half() -> None:
    store = MemoryStore(CLOCK)
    flow = Flow(store)
    await flow.run()
    await flow.check(store)
    half = [job for job in await all_jobs(store) if "batch.0" in job.spec.arguments.decode()]
    await store.jobs.insert([half[0].spec])
    with pytest.raises(AssertionError, match="S17"):
        await flow.check(store)
    assert len(half) == 1 < BATCH
