"""Jobs that are part of a caller's own transaction: what is rolled back was never queued."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from contextlib import asynccontextmanager as asynchronous
from contextlib import contextmanager as synchronous
from dataclasses import replace
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from drumbeat import Drumbeat, InvalidInput, Job, Status
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.engine.tasks.handle import Task
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.jobs.job import JobFilter, JobSpec
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Topic
from servers import Postgres

# These have no types.
asyncpg: Any = pytest.importorskip("asyncpg")
django: Any = pytest.importorskip("django")
django_settings: Any = pytest.importorskip("django.conf").settings
django_transaction: Any = pytest.importorskip("django.db.transaction")
django_connection: Any = pytest.importorskip("django.db").connection


class RolledBack(Exception):
    """Why a transaction of a test ends."""


class Refused(Exception):
    """What a submit middleware raises."""


class Shop:
    """An app with one task, on a namespace of its own."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.app = Drumbeat(address, namespace=f"test_{uuid4().hex}", environment={})

        @self.app.task
        async def ship(order: int) -> None: ...

        self.ship: Task[[int], None] = ship

    async def orders(self) -> list[bytes]:
        page = await self.app.store.jobs.list(JobFilter(), PageRequest(100))
        return sorted(job.spec.arguments for job in page.items)


def only_orders(shop: Shop) -> None:
    """Tag each job with its tenant, and refuse order 13."""

    @shop.app.submit_middleware
    def check(spec: JobSpec) -> JobSpec:
        if spec.arguments == b'{"order":13}':
            raise Refused
        return replace(spec, tags=(*spec.tags, "acme"))


@pytest.fixture
async def shop(postgres: Postgres) -> AsyncGenerator[Shop]:
    shop = Shop(postgres.address)
    async with shop.app.connected():
        yield shop
    connection = await asyncpg.connect(postgres.address)
    await connection.execute(f'DROP SCHEMA "{shop.app.settings.namespace}" CASCADE')
    await connection.close()


@asynchronous
async def over_asyncpg(address: str) -> AsyncGenerator[Any]:
    connection = await asyncpg.connect(address)
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynchronous
async def over_asyncpg_pool(address: str) -> AsyncGenerator[Any]:
    async with (
        asyncpg.create_pool(address, min_size=1, max_size=1) as pool,
        pool.acquire() as connection,
        connection.transaction(),
    ):
        yield connection


@asynchronous
async def over_psycopg(address: str) -> AsyncGenerator[Any]:
    async with await psycopg.AsyncConnection.connect(address) as connection:
        connection.row_factory = dict_row  # type: ignore[assignment]  # whatever the caller likes
        connection.cursor_factory = psycopg.AsyncRawCursor
        yield connection


@asynchronous
async def over_async_session(address: str) -> AsyncGenerator[Any]:
    engine = create_async_engine(dialect(address, "asyncpg"), poolclass=NullPool)
    async with AsyncSession(engine) as session, session.begin():
        yield session


@asynchronous
async def over_async_connection(address: str) -> AsyncGenerator[Any]:
    engine = create_async_engine(dialect(address, "psycopg"), poolclass=NullPool)
    async with engine.begin() as connection:
        yield connection


@synchronous
def over_psycopg_sync(address: str) -> Generator[Any]:
    with psycopg.connect(address) as connection:
        connection.cursor_factory = psycopg.RawCursor
        yield connection


@synchronous
def over_session(address: str) -> Generator[Any]:
    engine = create_engine(dialect(address, "psycopg"), poolclass=NullPool)
    with Session(engine) as session, session.begin():
        yield session


@synchronous
def over_connection(address: str) -> Generator[Any]:
    engine = create_engine(dialect(address, "psycopg"), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


@synchronous
def over_django(address: str) -> Generator[Any]:
    if not django_settings.configured:
        django_settings.configure(USE_TZ=True, DATABASES={"default": django_database(address)})
        django.setup()
    try:
        with django_transaction.atomic():
            yield django_connection
    finally:
        django_connection.close()


def dialect(address: str, driver: str) -> str:
    return address.replace("postgresql://", f"postgresql+{driver}://", 1)


def django_database(address: str) -> dict[str, Any]:
    parts = conninfo_to_dict(address)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts["dbname"],
        "USER": parts["user"],
        "HOST": parts["host"],
        "PORT": parts["port"],
    }


ASYNCHRONOUS = [
    over_asyncpg,
    over_asyncpg_pool,
    over_psycopg,
    over_async_session,
    over_async_connection,
]
SYNCHRONOUS = [over_psycopg_sync, over_session, over_connection, over_django]

Opening = Callable[[str], AbstractAsyncContextManager[Any]]
OpeningSync = Callable[[str], AbstractContextManager[Any]]


@pytest.mark.parametrize("opened", ASYNCHRONOUS)
async def test_a_job_is_queued_by_the_callers_commit(shop: Shop, opened: Opening) -> None:
    async with opened(shop.address) as connection:
        task = shop.ship.options(connection=connection)
        job = await task.submit(1)
        many = await task.submit_many([(2,), (3,)])
        assert await shop.orders() == []

    assert await shop.orders() == [b'{"order":1}', b'{"order":2}', b'{"order":3}']
    stored = await shop.app.jobs.get(job.id)
    assert stored == job
    assert job.status is Status.QUEUED
    assert len({job.id, *(each.id for each in many)}) == 3


@pytest.mark.parametrize("opened", ASYNCHRONOUS)
async def test_what_is_rolled_back_was_never_queued(shop: Shop, opened: Opening) -> None:
    with suppress(RolledBack):
        async with opened(shop.address) as connection:
            await shop.ship.options(connection=connection).submit(1)
            raise RolledBack

    assert await shop.orders() == []


@pytest.mark.parametrize("opened", SYNCHRONOUS)
async def test_synchronous_connections_commit_and_roll_back(
    shop: Shop, opened: OpeningSync
) -> None:
    def order() -> Job:
        with opened(shop.address) as connection:
            job = shop.ship.options(connection=connection).submit_sync(1)
        with suppress(RolledBack), opened(shop.address) as connection:
            shop.ship.options(connection=connection).submit_sync(2)
            raise RolledBack
        return job

    job = await asyncio.to_thread(order)

    assert await shop.orders() == [b'{"order":1}']
    assert await shop.app.jobs.get(job.id) == job


@pytest.mark.parametrize("opened", ASYNCHRONOUS)
async def test_submit_middleware_changes_and_refuses_jobs_of_a_transaction(
    shop: Shop, opened: Opening
) -> None:
    only_orders(shop)
    async with opened(shop.address) as connection:
        task = shop.ship.options(connection=connection)
        job = await task.submit(1)
        with pytest.raises(Refused):
            await task.submit(13)
        with pytest.raises(Refused):
            await task.submit_many([(2,), (13,)])  # then neither is submitted
        (last,) = await task.submit_many([(3,)])
    assert await shop.orders() == [b'{"order":1}', b'{"order":3}']
    for each in (job, last):
        assert (await shop.app.jobs.get(each.id)).spec.tags == ("acme",)


@pytest.mark.parametrize("opened", SYNCHRONOUS)
async def test_submit_middleware_holds_for_synchronous_connections(
    shop: Shop, opened: OpeningSync
) -> None:
    only_orders(shop)

    def work() -> None:
        with opened(shop.address) as connection:
            task = shop.ship.options(connection=connection)
            task.submit_sync(1)
            with pytest.raises(Refused):
                task.submit_sync(13)

    await asyncio.to_thread(work)
    assert await shop.orders() == [b'{"order":1}']
    (job,) = (await shop.app.jobs.list(JobFilter(tag="acme"))).items
    assert job.spec.arguments == b'{"order":1}'


async def test_options_hold_within_a_transaction(shop: Shop) -> None:
    async with over_asyncpg(shop.address) as connection:
        task = shop.ship.options(connection=connection, dedupe_key="one", priority=7, delay=60)
        first = await task.submit(1)
        again = await task.submit(1)

    assert again == first
    stored = await shop.app.jobs.get(first.id)
    assert stored is not None
    assert stored.spec.priority == 7
    assert stored.status is Status.PENDING


async def test_the_commit_itself_wakes_workers(shop: Shop) -> None:
    woken = asyncio.Event()
    worker = PostgresStore(shop.address, SystemClock(), shop.app.settings.namespace)
    worker.subscribe(Topic.JOBS, woken.set)
    async with asyncio.timeout(40):
        await woken.wait()  # listening has begun
        woken.clear()
        async with over_asyncpg(shop.address) as connection:
            await shop.ship.options(connection=connection).submit(1)
            await shop.orders()
            assert not woken.is_set(), "it is not there yet"
        await woken.wait()
    await worker.close()


async def test_a_worker_runs_the_job_once_it_is_committed(shop: Shop) -> None:
    ran = asyncio.Event()

    @shop.app.task
    async def ring() -> None:
        ran.set()

    async with shop.app.running():
        async with over_asyncpg(shop.address) as connection:
            await ring.options(connection=connection).submit()
        async with asyncio.timeout(40):
            await ran.wait()


async def test_a_connection_of_the_wrong_kind_is_refused(shop: Shop) -> None:
    with pytest.raises(InvalidInput, match="psycopg, asyncpg, SQLAlchemy or Django, not builtins"):
        await shop.ship.options(connection="postgresql://").submit(1)
    async with over_asyncpg(shop.address) as connection:
        with pytest.raises(InvalidInput, match="asynchronous; await submit"):
            shop.ship.options(connection=connection).submit_sync(1)
    with (
        over_psycopg_sync(shop.address) as connection,
        pytest.raises(InvalidInput, match="would block the event loop; call submit_sync"),
    ):
        await shop.ship.options(connection=connection).submit(1)


async def test_a_store_that_cannot_join_says_so() -> None:
    app = Drumbeat("memory://", environment={})

    @app.task
    async def ship(order: int) -> None: ...

    with pytest.raises(InvalidInput, match="connection= needs a store on PostgreSQL"):
        ship.options(connection=object())


@pytest.mark.parametrize("opened", [over_asyncpg, over_psycopg, over_async_session])
async def test_a_connection_to_another_database_is_explained(shop: Shop, opened: Opening) -> None:
    elsewhere = Shop(shop.address)  # its schema was never made

    with pytest.raises(ConfigurationError, match="run `drumbeat db migrate`"):
        async with opened(shop.address) as connection:
            await elsewhere.ship.options(connection=connection).submit(1)


async def test_a_database_of_another_kind_is_named(shop: Shop) -> None:
    with (
        Session(create_engine("sqlite://")) as session,
        pytest.raises(ConfigurationError, match="leads to sqlite, and the store is a PostgreSQL"),
    ):
        shop.ship.options(connection=session).submit_sync(1)
    with (
        create_engine("sqlite://").connect() as connection,
        pytest.raises(ConfigurationError, match="connect to the store's own database"),
    ):
        shop.ship.options(connection=connection).submit_sync(1)
    assert await shop.orders() == []
