"""Lists of jobs on PostgreSQL, as users of the API request them, over millions of jobs.

Most jobs are finished, a hundred thousand wait. A few statements write them as the store would have
written them. The tables are never analysed: a list must not depend on the server's statistics. Each
list is a call of the store that reads a page of a hundred, and the slowest of several calls counts.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

from bench.postgres_fleet import Target, server
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import PageRequest

TITLE = "Lists of jobs on PostgreSQL"
TIMES = 7
TARGET = 200
"""Milliseconds."""
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SPACING = timedelta(milliseconds=100)
"""Between two jobs."""
QUIET = (
    "ALTER TABLE {schema}.archive SET (autovacuum_enabled = false)",
    "ALTER TABLE {schema}.jobs SET (autovacuum_enabled = false)",
    "ALTER TABLE {schema}.archive DISABLE TRIGGER USER",
    """
    INSERT INTO {schema}.lanes (queue, task)
    SELECT 'queue-' || n % 3, 'task-' || n FROM generate_series(0, 29) AS n
    UNION ALL VALUES ('default', 'rare'), ('default', 'old'), ('default', 'broken')
    """,
    """
    CREATE TABLE {schema}.made AS
    SELECT indexdef FROM pg_indexes
    WHERE schemaname = '{schema}' AND tablename = 'archive' AND indexname <> 'archive_pkey'
    """,
    """
    DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT indexname FROM pg_indexes
            WHERE schemaname = '{schema}' AND tablename = 'archive' AND indexname <> 'archive_pkey'
        LOOP EXECUTE 'DROP INDEX {schema}.' || quote_ident(name); END LOOP;
    END $$
    """,
)
FILL = """
INSERT INTO {schema}.archive (
    id, run_at, created_at, finished_at, started_at, lane, attempt, fence, rank, cancel_requested,
    status, arguments, node, tags, schedule
)
SELECT n, moment, moment, moment + interval '1 second', moment,
    CASE
        WHEN n % 100003 = 0 THEN (SELECT id FROM {schema}.lanes WHERE task = 'rare')
        WHEN n < COUNT / 10 AND n % 2 = 0 THEN (SELECT id FROM {schema}.lanes WHERE task = 'old')
        WHEN n % 20 = 7 THEN (SELECT id FROM {schema}.lanes WHERE task = 'broken')
        ELSE 1 + n % 30
    END,
    1, 1, 0, false,
    CASE
        WHEN n % 20 = 7 AND n > COUNT / 10 THEN 'failed' WHEN n % 9973 = 0 THEN 'failed'
        WHEN n % 1009 = 0 THEN 'cancelled' ELSE 'completed'
    END,
    convert_to('{{"number":0,"text":"' || repeat('x', 80) || '"}}', 'UTF8'), 'bench:1',
    CASE
        WHEN n % 100003 = 0 THEN ARRAY['rare', 'common'] WHEN n < COUNT / 10 THEN ARRAY['old']
        WHEN n % 5 = 0 THEN ARRAY['common']
    END,
    CASE WHEN n % 10 = 3 THEN 'often' WHEN n % 100003 = 0 THEN 'seldom' END
FROM (
    SELECT n, timestamptz '2026-01-01 00:00Z' + n * interval '100 milliseconds' AS moment
    FROM generate_series(1, COUNT) AS n
) AS numbers
"""
WAIT = """
INSERT INTO {schema}.jobs (
    id, limit_group, lane, rank, run_at, created_at, status, arguments, node, tags
)
SELECT COUNT + n, 1 + n % 30, 1 + n % 30, 0, moment, moment,
    CASE WHEN n % 10 = 0 THEN 'pending' WHEN n % 2000 = 1 THEN 'running' ELSE 'queued' END, '{{}}',
    CASE WHEN n % 2000 = 1 THEN 'bench:1' END, CASE WHEN n % 50 = 0 THEN ARRAY['common'] END
FROM (
    SELECT n, timestamptz '2026-01-01 00:00Z' + (COUNT + n) * interval '100 milliseconds' AS moment
    FROM generate_series(1, WAITING) AS n
) AS numbers
"""
FINISH = (
    """
    DO $$ DECLARE made text; BEGIN
        SET LOCAL maintenance_work_mem = '512MB';
        FOR made IN SELECT indexdef FROM {schema}.made LOOP EXECUTE made; END LOOP;
    END $$
    """,
    """
    INSERT INTO {schema}.archive_tags
    SELECT t, status, id FROM {schema}.archive, unnest(tags) AS t ORDER BY 1, 2, 3
    """,
    """
    INSERT INTO {schema}.tallies (lane, completed)
    SELECT lane, count(*) FROM {schema}.archive GROUP BY lane
    """,
    """
    INSERT INTO {schema}.tallies (lane, pending, queued, running)
    SELECT lane, count(*) FILTER (WHERE status = 'pending'),
        count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'running')
    FROM {schema}.jobs GROUP BY lane
    """,
    "ALTER TABLE {schema}.archive ENABLE TRIGGER USER",
)


def run(*, quick: bool) -> dict[str, object]:
    """The slowest of several calls for each list, in milliseconds."""
    finished, waiting = (200_000, 10_000) if quick else (5_000_000, 100_000)
    with server() as address:
        target = Target(address, "bench_lists")
        asyncio.run(fill(target, finished, waiting))
        try:
            figures = asyncio.run(_measure(target, finished + waiting))
        finally:
            asyncio.run(target.empty())
    slowest = max(figures, key=lambda name: figures[name])
    return {
        "jobs": finished + waiting,
        **figures,
        "slowest": slowest,
        "slowest_ms": figures[slowest],
        "target_slowest_ms": TARGET,
    }


async def fill(target: Target, finished: int, waiting: int) -> None:
    """Write finished jobs and waiting jobs."""
    await target.empty()
    store = PostgresStore(target.address, SystemClock(), target.namespace)
    await store.open()
    await store.close()
    numbers = (("COUNT", str(finished)), ("WAITING", str(waiting)))
    await target.execute(*QUIET)
    for text in (FILL, WAIT):
        statement = text
        for name, number in numbers:
            statement = statement.replace(name, number)
        await target.execute(statement)
    await target.execute(*FINISH)


def filters(jobs: int) -> dict[str, JobFilter]:
    """The filters that are measured, by name."""
    asked = {
        "all": JobFilter(),
        **{str(status): JobFilter(frozenset({status})) for status in Status},
        "unfinished": JobFilter(frozenset({Status.PENDING, Status.QUEUED, Status.RUNNING})),
        "ended badly": JobFilter(frozenset({Status.FAILED, Status.CANCELLED})),
        "old days": _days(jobs, 0.2, 0.3),
        "until old days": JobFilter(created_to=_at(jobs, 0.05)),
        "recent": JobFilter(created_from=_at(jobs, 0.99999)),
        "seldom": JobFilter(schedule="seldom"),
        "often": JobFilter(schedule="often"),
        "often, failed": JobFilter(frozenset({Status.FAILED}), schedule="often"),
        "queue": JobFilter(queue="queue-1"),
        "queue, cancelled": JobFilter(frozenset({Status.CANCELLED}), queue="queue-1"),
        "no such queue": JobFilter(queue="nowhere"),
    }
    for task in ("task-1", "rare", "old", "broken"):
        asked[f"task {task}"] = JobFilter(task=task)
        for status in (Status.COMPLETED, Status.FAILED, Status.QUEUED):
            asked[f"task {task}, {status}"] = JobFilter(frozenset({status}), task=task)
        asked[f"task {task}, old days"] = JobFilter(
            task=task, created_from=_at(jobs, 0.2), created_to=_at(jobs, 0.3)
        )
    for tag in ("common", "rare", "old", "unknown"):
        asked[f"tag {tag}"] = JobFilter(tag=tag)
        asked[f"tag {tag}, failed"] = JobFilter(frozenset({Status.FAILED}), tag=tag)
    return asked


def _at(jobs: int, share: float) -> datetime:
    return BEGAN + SPACING * round(jobs * share)


def _days(jobs: int, first: float, last: float) -> JobFilter:
    return JobFilter(created_from=_at(jobs, first), created_to=_at(jobs, last))


async def _measure(target: Target, jobs: int) -> dict[str, float]:
    store = PostgresStore(target.address, SystemClock(), target.namespace)
    figures: dict[str, float] = {}
    try:
        for name, wanted in filters(jobs).items():
            spent: list[float] = []
            for _ in range(TIMES):
                began = time.perf_counter()
                await store.jobs.list(wanted, PageRequest(100))
                spent.append((time.perf_counter() - began) * 1_000)
            figures[name] = round(max(spent[1:]), 1)  # the first call connects and reads the disk
    finally:
        await store.close()
    return figures
