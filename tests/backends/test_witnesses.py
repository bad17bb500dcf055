"""The witnesses of stores: by the suite, and by the deaths of real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.memory.store.witnesses import MemoryWitnesses
from drumbeat.backends.postgres.connection import connector
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.sqlite.connection.witness_file import FileWitness, WitnessFile
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import WitnessCheck
from drumbeat.ports.store import Store
from drumbeat.testing.conformance import StoreTraits, WitnessConformance
from drumbeat.testing.conformance.builders import ANNE
from drumbeat.testing.conformance.store.witnesses import (
    SEVEN,
    check_at,
    freed,
    held,
    is_held,
    reported,
    witnesses_of,
)
from servers import Pgbouncer, Postgres
from tests.support.postgres_namespace import ask, tell

from .hand_clock import HandClock

PATIENCE = 30.0
HOLDER = """
import asyncio, sys
from pathlib import Path
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock

async def hold(where, namespace):
    clock = SystemClock()
    if where.startswith("postgresql"):
        store = PostgresStore(where, clock, namespace)
    else:
        store = SqliteStore(Path(where), clock)
    await store.open()
    witness = store.witnesses.session(lambda: None)
    assert await witness.take(7)
    print("held", flush=True)
    await clock.sleep(600)

asyncio.run(hold(*sys.argv[1:]))
"""


class TestMemoryWitnesses(WitnessConformance):
    @pytest.fixture
    def store(self) -> Store:
        store = MemoryStore(HandClock())
        store.witnesses = MemoryWitnesses(store.nodes)
        return store

    @pytest.fixture
    def traits(self, store: Store) -> StoreTraits:
        @asynccontextmanager
        async def another() -> AsyncGenerator[Store]:
            yield store

        return StoreTraits(another)


class OnSqlite:
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        async with opened(SqliteStore(tmp_path / "drumbeat.db", HandClock())) as store:
            yield store

    @pytest.fixture
    def traits(self, tmp_path: Path) -> StoreTraits:
        return StoreTraits(lambda: opened(SqliteStore(tmp_path / "drumbeat.db", HandClock())))

    @pytest.fixture
    def where(self, tmp_path: Path) -> tuple[str, str]:
        return str(tmp_path / "drumbeat.db"), ""


class OnPostgres:
    @pytest.fixture
    async def store(self, postgres: Postgres, namespace: str) -> AsyncIterator[Store]:
        async with opened(PostgresStore(postgres.address, SystemClock(), namespace)) as store:
            yield store

    @pytest.fixture
    def traits(self, postgres: Postgres, namespace: str) -> StoreTraits:
        return StoreTraits(
            lambda: opened(PostgresStore(postgres.address, SystemClock(), namespace))
        )

    @pytest.fixture
    def where(self, postgres: Postgres, namespace: str) -> tuple[str, str]:
        return postgres.address, namespace


class TestSqliteWitnesses(OnSqlite, WitnessConformance):
    """By locks of a file."""


class TestPostgresWitnesses(OnPostgres, WitnessConformance):
    """By advisory locks."""


class ProcessConformance:
    """What the kernel tells of a process."""

    async def test_a_killed_process_frees_its_number(
        self, store: Store, where: tuple[str, str]
    ) -> None:
        async with holder(where) as process:
            assert await is_held(store, SEVEN)
            process.kill()
            await (await freed(store, SEVEN, PATIENCE)).close()

    async def test_a_stopped_process_keeps_its_number(
        self, store: Store, where: tuple[str, str]
    ) -> None:
        async with holder(where) as process:
            await reported(store, ANNE, SEVEN)
            process.send_signal(signal.SIGSTOP)
            assert await check_at(store) == WitnessCheck(1)
            assert await is_held(store, SEVEN)
            process.kill()  # a process that is stopped can be killed too
            await (await freed(store, SEVEN, PATIENCE)).close()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
    async def test_a_forked_child_does_not_keep_the_number_of_its_parent(
        self, store: Store
    ) -> None:
        witness = await held(store, SEVEN)
        gate, opener = os.pipe()
        child = os.fork()
        if child == 0:  # it lives until the pipe is closed
            os.close(opener)
            os.read(gate, 1)
            os._exit(0)
        os.close(gate)
        try:
            await witness.prove()
            await witness.close()
            await (await freed(store, SEVEN, PATIENCE)).close()
        finally:
            os.close(opener)
            os.waitpid(child, 0)  # noqa: ASYNC222 - it ends now that the pipe is closed


class TestSqliteProcesses(OnSqlite, ProcessConformance):
    """By locks of a file."""


class TestPostgresProcesses(OnPostgres, ProcessConformance):
    """By advisory locks."""


@asynccontextmanager
async def opened(store: Store) -> AsyncGenerator[Store]:
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def holder(where: tuple[str, str]) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process that holds the number seven."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, *where, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"held\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_witness_file_that_was_deleted_proves_nothing(tmp_path: Path) -> None:
    file = WitnessFile(tmp_path / "drumbeat.db")
    witness = FileWitness(file)
    assert await witness.take(SEVEN)
    file.path.unlink()
    with pytest.raises(Unavailable, match="is gone"):
        await witness.prove()
    assert file.free([SEVEN]) == frozenset()  # without a file, nothing is known of anybody
    other = FileWitness(file)
    assert await other.take(SEVEN)
    with pytest.raises(Unavailable, match="was replaced"):
        await witness.prove()
    await witness.close()
    await other.prove()
    await other.close()


async def test_a_database_that_is_opened_by_a_link_has_the_same_witnesses(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "drumbeat.db")
    async with (
        opened(SqliteStore(tmp_path / "drumbeat.db", HandClock())) as store,
        opened(SqliteStore(tmp_path / "link.db", HandClock())) as other,
    ):
        witness = await held(store, SEVEN)
        await reported(store, ANNE, SEVEN)
        assert await check_at(other) == WitnessCheck(1)
        assert await is_held(other, SEVEN)
        await witness.close()


async def test_the_witness_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = WitnessFile(tmp_path / "drumbeat.db")
    witness = FileWitness(file)
    assert await witness.take(SEVEN)
    assert file.path.stat().st_mode & 0o777 == 0o600
    await witness.close()


async def test_closing_the_witness_file_keeps_the_locks_of_the_database(
    store_in: SqliteStore,
) -> None:
    """SQLite's own locks end when any descriptor of their file is closed."""
    witness = await held(store_in, SEVEN)
    await reported(store_in, ANNE, SEVEN)
    await check_at(store_in)
    await witness.close()
    await reported(store_in, ANNE, SEVEN)
    assert (await check_at(store_in)).expected == 1


@pytest.fixture
async def store_in(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "drumbeat.db", HandClock())
    async with opened(store):
        yield store


async def test_there_are_no_witnesses_behind_a_pooler_in_transaction_mode(
    pgbouncer: Pgbouncer, namespace: str
) -> None:
    async with opened(PostgresStore(pgbouncer.address, SystemClock(), namespace)) as store:
        assert store.witnesses is None


async def test_a_pooler_that_is_said_to_keep_sessions_and_does_not_is_found_out(
    pgbouncer: Pgbouncer, postgres: Postgres, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector, "STATEMENTS", 0)  # newer poolers keep prepared statements
    address = f"{pgbouncer.address}?pooler=session"
    async with opened(PostgresStore(address, SystemClock(), namespace)) as store:
        witness = await held(store, SEVEN)
        await witness.prove()
        tell(postgres.address, f"SELECT pg_terminate_backend({holding(postgres, store)})")
        await (await freed(store, SEVEN, PATIENCE)).close()  # while the pooler keeps our connection
        with pytest.raises(Unavailable):
            await witness.prove()
        await witness.close()


async def test_an_ended_session_of_the_server_is_noticed_and_replaced(
    postgres: Postgres, namespace: str
) -> None:
    lost = asyncio.Event()
    async with opened(PostgresStore(postgres.address, SystemClock(), namespace)) as store:
        witness = witnesses_of(store).session(lost.set)
        assert await witness.take(SEVEN)
        tell(postgres.address, f"SELECT pg_terminate_backend({holding(postgres, store)})")
        async with asyncio.timeout(PATIENCE):
            await lost.wait()
        with pytest.raises(Unavailable):
            await witness.prove()
        await witness.close()
        await (await held(store, SEVEN)).close()


async def test_a_session_takes_the_number_from_an_earlier_one_that_the_client_has_given_up(
    postgres: Postgres, namespace: str
) -> None:
    """The server may believe in a connection for long after the client has lost it."""
    async with opened(PostgresStore(postgres.address, SystemClock(), namespace)) as store:
        forgotten = await held(store, SEVEN)
        again = await held(store, SEVEN)
        with pytest.raises(Unavailable):
            await forgotten.prove()
        await again.prove()
        await forgotten.close()
        await again.close()


async def test_a_full_connection_table_gives_no_witness(namespace: str) -> None:
    settings = {"max_connections": "5", "superuser_reserved_connections": "0"}
    server = Postgres.start(settings=settings)
    try:
        limits = Limits(connections=4)
        store = PostgresStore(server.address, SystemClock(), namespace, limits)
        async with opened(store):
            taken = [await held(store, number) for number in range(1, 5)]
            with pytest.raises(Unavailable, match="no connection left"):
                await is_held(store, SEVEN)
            for witness in taken:
                await witness.close()
    finally:
        server.stop()


def holding(postgres: Postgres, store: Store) -> object:
    """The process of the server that holds the number seven."""
    assert isinstance(store, PostgresStore)
    assert store.witnesses is not None
    domain = store.witnesses.domain
    ((process,),) = ask(
        postgres.address,
        f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = {SEVEN} "
        f"AND classid = {domain}",
    )
    return process
