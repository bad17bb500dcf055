"""Pausing a queue on PostgreSQL, against claims that are under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.jobs.job import JobSpec
from drumbeat.testing.conformance.builders import ANNE, NOON, insert, take, wanted
from servers import Postgres
from tests.support.postgres_namespace import ask, until

MAIL = wanted(queues=("mail",))
BOTH = wanted(queues=("default", "mail"))
WAITING = "SELECT FROM pg_locks WHERE NOT granted AND relation = '\"{}\".paused_queues'::regclass"


@pytest.fixture
async def store(postgres: Postgres, namespace: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres.address, SystemClock(), namespace)
    await store.open()
    await insert(store, JobSpec("send", queue="mail"), JobSpec("send"))
    yield store
    await store.close()


def take_call(namespace: str, marks: str = "NULL") -> str:
    """The call that claims from both queues."""
    request = f"ROW('{ANNE}', ARRAY['mail', 'default'], ARRAY['send'], 10, 0)"
    return f'SELECT * FROM "{namespace}".take_jobs({request}, NULL, {marks}, NULL)'


def claimed_ids(namespace: str, marks: str) -> str:
    """The ids of the jobs that a claim above marks gets."""
    call = take_call(namespace, marks)
    return f"SELECT j.id FROM ({call}) AS t, unnest(t.claimed) AS j ORDER BY j.id"


async def waits(postgres: Postgres, namespace: str) -> None:
    """Return once somebody waits for the table of pauses."""
    await until(lambda: bool(ask(postgres.address, WAITING.format(namespace))))


async def test_a_pause_waits_for_the_claims_that_have_not_seen_it(
    postgres: Postgres, namespace: str, store: PostgresStore
) -> None:
    with psycopg.connect(postgres.address) as claim:
        claim.execute(take_call(namespace).encode())
        pausing = asyncio.create_task(store.queues.pause("mail", at=NOON))
        await waits(postgres, namespace)
        assert not pausing.done()
        claim.rollback()
        await pausing
    assert await take(store, MAIL) == ()


async def test_a_claim_waits_for_a_pause_that_is_under_way_and_obeys_it(
    postgres: Postgres, namespace: str, store: PostgresStore
) -> None:
    with psycopg.connect(postgres.address) as pause:
        pause.execute(f"SELECT \"{namespace}\".pause_queue('mail', '', now())".encode())
        claiming = asyncio.create_task(take(store, MAIL))
        await waits(postgres, namespace)
        assert not claiming.done()
        pause.commit()
        assert await claiming == ()


async def test_a_backup_is_in_nobodys_way(
    postgres: Postgres, namespace: str, store: PostgresStore
) -> None:
    with psycopg.connect(postgres.address) as backup:
        backup.execute(f'LOCK TABLE "{namespace}".paused_queues IN ACCESS SHARE MODE'.encode())
        await store.queues.pause("mail", at=NOON)
        assert len(await take(store, BOTH)) == 1
        await store.queues.resume("mail")
        assert len(await take(store, BOTH)) == 1


async def test_a_claim_above_marks_passes_paused_lanes_over(
    postgres: Postgres, namespace: str, store: PostgresStore
) -> None:
    rows = ask(postgres.address, f'SELECT queue, id FROM "{namespace}".lanes')
    lanes = {str(row[0]): row[1] for row in rows}
    marks = (
        f"ROW(ARRAY[{lanes['mail']}, {lanes['default']}], ARRAY[0, 0]::smallint[], "
        "ARRAY['-infinity', '-infinity']::timestamptz[], ARRAY[0, 0], true)"
    )
    above = claimed_ids(namespace, marks)
    with psycopg.connect(postgres.address) as claim:

        def claimed() -> list[int]:
            rows = claim.execute(above.encode()).fetchall()
            claim.rollback()
            return [row[0] for row in rows]

        assert claimed() == [1, 2]
        await store.queues.pause("mail", at=NOON)
        assert claimed() == [2]
        await store.queues.pause("default", at=NOON)
        assert claimed() == []
