"""Query plans on a million jobs, as the server itself reports them while the store works: no hot
statement looks through a table that grows, or sorts it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, cast

import pytest

from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.postgres.store.jobs.watermark import ClaimMarks, Watermark
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import (
    FINAL,
    UNFINISHED,
    Change,
    JobFilter,
    JobSpec,
    Limit,
    Settlement,
    Status,
    Wanted,
)
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Committed, Edit
from drumbeat.testing.conformance.builders import (
    ANNE,
    after,
    beat,
    fire,
    lead,
    plan,
    schedule,
    wanted,
)
from servers import Postgres
from tests.support.postgres_namespace import namespace_in, tell

ONE = Limits(connections=1, patience=60.0, connecting=60.0, statement=60.0)
JOBS = 1_000_000
"""In the hot table."""
FINISHED = 300_000
"""In the archive."""
MANY = 5_000
"""Rows that no step of a hot statement comes near to."""
GROWING = {"jobs", "archive", "attempts", "ticks", "schedules"}
"""Tables that grow with what is stored."""
REPORT = """
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET auto_explain.log_analyze = on;
SET auto_explain.log_timing = off;
SET auto_explain.log_level = notice;
SET client_min_messages = notice;
"""
INDEXES = {
    "jobs_queued": "(limit_group, rank, run_at, id) WHERE status = 'queued'",
    "jobs_pending": "(run_at, id) WHERE status = 'pending'",
    "jobs_running": "(node, id) WHERE status = 'running'",
    "jobs_by_key": "(dedupe_key, id) WHERE dedupe_key IS NOT NULL",
    "jobs_tagged": "(id) WHERE tags IS NOT NULL",
}
"""Made again once the rows are there, which is quicker. Checked against those of the migration."""
FILL = """
SET LOCAL maintenance_work_mem = '256MB';
INSERT INTO {0}.lanes (queue, task)
VALUES ('default', 'send'), ('default', 'other'), ('default', 'old')
ON CONFLICT DO NOTHING;
INSERT INTO {0}.jobs (id, limit_group, lane, rank, run_at, created_at, status, arguments)
SELECT nextval('{0}.job_ids'), 1 + n % 2, 1 + n % 2, -(n % 3), timestamptz '2029-01-01'
    + n * interval '1 second', timestamptz '2029-01-01',
    CASE WHEN n % 10 = 0 THEN 'pending' ELSE 'queued' END, '{{}}'
FROM generate_series(1, {1}) AS n;
INSERT INTO {0}.archive (
    id, lane, rank, run_at, created_at, finished_at, status, attempt, fence, cancel_requested,
    arguments
)
SELECT nextval('{0}.job_ids'),
    CASE WHEN n < {2} / 10 THEN (SELECT id FROM {0}.lanes WHERE task = 'old') ELSE 1 + n % 2 END,
    0, timestamptz '2029-01-01', timestamptz '2029-01-01',
    timestamptz '2029-01-01' + n * interval '1 second',
    CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'completed' END, 1, 1, false, '{{}}'
FROM generate_series(1, {2}) AS n;
INSERT INTO {0}.tallies (lane, pending, queued)
SELECT lane, count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'queued')
FROM {0}.jobs GROUP BY lane;
INSERT INTO {0}.ticks (schedule, tick_at, number, recorded_at, through, count)
SELECT 'old', t, 0, t, t, 1 FROM generate_series(1, 50000) AS n,
    LATERAL (SELECT timestamptz '2029-01-01' + n * interval '1 minute') AS m (t);
"""


ASYNCPG_LOOKS_TYPES_UP = "typeinfo_tree"
"""In the text of that query. It reads all types of the database, ours and those of others."""


@dataclass(frozen=True)
class Step:
    """One step of a plan: what it does, how often, and how many rows that gives each time."""

    text: str
    rows: int
    loops: int

    @property
    def scanned(self) -> str | None:
        """The table that it reads from one end to the other."""
        found = re.search(r"Seq Scan on (\w+)", self.text)
        return found[1] if found else None


class Plans:
    """What the server reports of one connection."""

    def __init__(self) -> None:
        self._reports: list[str] = []

    def hear(self, _connection: object, message: Any) -> None:
        """Keep a report, unless it is of asyncpg: it looks types up once for each connection."""
        report = str(message)
        if ASYNCPG_LOOKS_TYPES_UP not in report:
            self._reports.append(report)

    def steps(self) -> list[Step]:
        """The steps of all that ran since this was asked last."""
        found = [
            Step(match[1].strip(), int(match[2]), int(match[3]))
            for report in self._reports
            for match in re.finditer(r"(.*)\(actual rows=(\d+)[.\d]* loops=(\d+)\)", report)
        ]
        removed = [
            Step(match[0], int(match[1]), 1)
            for report in self._reports
            for match in re.finditer(r"Rows Removed by (?:Filter|Index Recheck): (\d+)", report)
        ]
        self._reports.clear()
        assert found, "the server has reported plans"
        return found + removed

    def check(self) -> None:
        """Nothing that grows was looked through, and nothing large was touched."""
        for step in self.steps():
            assert step.scanned not in GROWING, step
            assert step.rows * step.loops < MANY, step


@pytest.fixture(scope="module")
def filled(postgres: Postgres) -> Any:
    """A namespace with a million unfinished jobs and many finished ones."""
    with namespace_in(postgres.address) as name:
        yield name


@pytest.fixture
async def store(postgres: Postgres, filled: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres.address, SystemClock(), filled, ONE)
    await store.open()
    if (
        not await store.jobs.counts()
        and not (await store.jobs.list(JobFilter(), PageRequest(1))).items
    ):
        fill(postgres.address, f'"{filled}"')
    yield store
    await store.close()


def fill(address: str, schema: str) -> None:
    drop = [f"DROP INDEX {schema}.{name}" for name in INDEXES]
    make = [f"CREATE INDEX {name} ON {schema}.jobs {what}" for name, what in INDEXES.items()]
    analyze = f"ANALYZE {schema}.jobs, {schema}.archive, {schema}.ticks"
    tell(address, ";".join([*drop, FILL.format(schema, JOBS, FINISHED), *make, analyze]))


@pytest.fixture
async def plans(store: PostgresStore) -> Plans:
    return await listening(store)


async def listening(store: PostgresStore) -> Plans:
    """What is reported of the store's one connection."""
    plans = Plans()
    async with store.database.borrow() as connection:
        await connection.execute(REPORT)
        cast(Any, connection).add_log_listener(plans.hear)
    return plans


async def test_a_claim_and_a_settlement_read_what_they_take(
    store: PostgresStore, plans: Plans
) -> None:
    both = Wanted(("default",), frozenset({"send", "other", "third"}), 100)
    taken = await store.jobs.take(both, ANNE)
    plans.check()
    assert len(taken.attempts) == 100
    changes = [Change.COMPLETE] * 8 + [Change.RETRY, Change.FAIL]
    settled = [
        Settlement(attempt.hold, changes[place % 10], timedelta(hours=1), error="so")
        for place, attempt in enumerate(taken.attempts)
    ]
    taken = await store.jobs.take(replace(both, tasks=frozenset({"send"})), ANNE, settled)
    plans.check()
    assert len(taken.attempts) == 100
    await store.jobs.settle([Settlement(each.hold, Change.COMPLETE) for each in taken.attempts])
    plans.check()


async def test_a_claim_above_marks_reads_what_it_takes(
    store: PostgresStore, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:

    def marks(_self: Watermark) -> ClaimMarks:
        return ClaimMarks([1, 2], [0, -1], [after(-(10**8))] * 2, [0, 0], suffices=False)

    monkeypatch.setattr(Watermark, "marks", marks)
    taken = await store.jobs.take(wanted(tasks=("send", "other")), ANNE)
    plans.check()
    assert len(taken.attempts) == 100
    assert taken.attempts[0].spec.task == "other"
    await store.jobs.settle([Settlement(each.hold, Change.COMPLETE) for each in taken.attempts])


async def test_limits_read_what_they_hold_up(store: PostgresStore, plans: Plans) -> None:
    for number in range(3):
        limit = (Limit("door", 1), Limit(f"key {number}", 2))
        await store.jobs.insert([JobSpec("send", priority=9, limits=limit)] * 2)
        plans.check()
    taken = await store.jobs.take(wanted(limit=3), ANNE)
    plans.check()
    settled = [Settlement(each.hold, Change.COMPLETE) for each in taken.attempts]
    await store.jobs.take(wanted(limit=1), ANNE, settled)
    plans.check()


async def test_creating_promoting_and_cancelling_read_what_they_change(
    store: PostgresStore, plans: Plans
) -> None:
    keyed = JobSpec("send", dedupe_key="k", delay=timedelta(hours=1), schedule="s")
    jobs = [each.job.id for each in await store.jobs.insert([JobSpec("send")] * 100)]
    plans.check()
    await store.jobs.insert([keyed, keyed, JobSpec("other", tags=("red",))])
    plans.check()
    assert len((await store.jobs.promote(100, after(0))).tickets) == 100
    plans.check()
    await store.jobs.cancel(jobs[:50])
    await store.jobs.reopen(jobs[:50])
    plans.check()


async def test_committing_reads_the_schedules_that_it_writes(
    store: PostgresStore, plans: Plans
) -> None:
    names = [f"schedule {number:05}" for number in range(2_000)]
    await store.schedules.put([Edit(None, schedule(name)) for name in names])
    plans.steps()
    epoch = await lead(store)
    for minute in range(3):
        due = await store.schedules.due(200, after(60 * minute))
        plans.check()
        planned = [
            replace(plan(each.stored), assumes_unfinished=minute > 0) for each in due.schedules
        ]
        await store.schedules.commit(planned, epoch, after(60 * minute))
        plans.check()
    await store.schedules.backfill(names[0], [fire(names[0], after(-60))])
    await store.schedules.ticks(names[0], PageRequest())
    assert len(await store.schedules.recorded(after(-(10**8)), 200)) == 200
    assert len(await store.schedules.recorded(after(0), 100)) == 100
    assert len(await store.schedules.revisions(names[500], 1_000)) == 1_000
    await store.retention.prune_ticks(timedelta(0), 100, after(10**6))
    plans.check()


async def test_readers_find_jobs_by_an_index(store: PostgresStore, plans: Plans) -> None:
    await store.nodes.beat(beat())
    await store.jobs.take(wanted(limit=5), NodeId("nobody:1"))
    await store.jobs.lost(10)
    await store.jobs.held(ANNE)
    await store.jobs.get([JobId(1), JobId(JOBS + 1)])
    await store.jobs.attempts(JobId(1))
    await store.jobs.unknown_tasks(["default"], frozenset({"send"}), 10)
    plans.check()
    await store.queues.list()
    await store.retention.prune_jobs(timedelta(0), 100, after(0))
    plans.check()


STATUSES = [frozenset[Status](), *(frozenset({status}) for status in Status), FINAL, UNFINISHED]
LISTS = [
    *(JobFilter(statuses) for statuses in STATUSES),
    *(JobFilter(statuses, task="send") for statuses in STATUSES),
    *(JobFilter(statuses, queue="default") for statuses in STATUSES),
    *(JobFilter(frozenset({status}), task="old") for status in sorted(FINAL)),
    JobFilter(task="nobody's"),
    JobFilter(tag="none"),
    JobFilter(FINAL, tag="none", task="send"),
    JobFilter(FINAL, schedule="none"),
    JobFilter(frozenset({Status.FAILED}), schedule="none", queue="default"),
    JobFilter(created_from=after(0)),
    JobFilter(created_to=after(-(10**9))),
    JobFilter(task="send", created_from=after(0), created_to=after(10)),
]


def _words(wish: JobFilter) -> str:
    """The filter in few words, which are the same in every process."""
    given = [f"{each.name}={getattr(wish, each.name)}" for each in fields(wish)[1:]]
    statuses = "+".join(sorted(wish.statuses)) or "any"
    return " ".join([statuses, *(each for each in given if not each.endswith("=None"))])


@pytest.mark.parametrize("wish", LISTS, ids=_words)
async def test_a_list_reads_a_few_pages_of_an_index_whatever_is_asked(
    store: PostgresStore, plans: Plans, wish: JobFilter
) -> None:
    first = await store.jobs.list(wish, PageRequest())
    plans.check()
    if first.next is not None:
        await store.jobs.list(wish, PageRequest(after=first.next))
        await store.jobs.list(wish, PageRequest(after=f"job:{JOBS + 50}"))
        plans.check()


async def test_plans_that_were_made_on_empty_tables_serve_when_they_have_grown(
    postgres: Postgres,
) -> None:
    with namespace_in(postgres.address) as name:
        store = PostgresStore(postgres.address, SystemClock(), name, ONE)
        await store.open()
        plans = await listening(store)
        await work(store, 0)
        tell(postgres.address, FILL.format(f'"{name}"', 20_000, 20_000))
        plans.steps()
        await work(store, 1)
        plans.check()
        await store.close()


async def work(store: PostgresStore, day: int) -> None:
    """Something of everything that happens all the time."""
    specs = [JobSpec("send"), JobSpec("send", dedupe_key=f"{day}"), JobSpec("send", priority=1)]
    await store.jobs.insert([*specs, JobSpec("send", limits=(Limit("door", 1),))] * 2)
    taken = await store.jobs.take(wanted(limit=4), ANNE)
    settled = [Settlement(each.hold, Change.COMPLETE) for each in taken.attempts[1:]]
    settled += [Settlement(each.hold, Change.RETRY) for each in taken.attempts[:1]]
    await store.nodes.beat(replace(beat(), holds=tuple(each.hold for each in settled)))
    taken = await store.jobs.take(wanted(limit=4), ANNE, settled)
    await store.jobs.settle([Settlement(each.hold, Change.FAIL) for each in taken.attempts])
    await store.jobs.promote(100)
    await store.jobs.lost(10)
    name = f"day {day}"
    await store.schedules.put([Edit(None, schedule(name))])
    (due,) = (await store.schedules.due(1, after(0))).schedules
    planned = replace(plan(due.stored), assumes_unfinished=False)
    (verdict,) = await store.schedules.commit([planned], await lead(store, day + 1), after(0))
    assert isinstance(verdict, Committed)
    await store.schedules.backfill(name, [fire(name, after(-60))])


async def test_the_tables_have_the_indexes_of_their_migration(
    postgres: Postgres, store: PostgresStore
) -> None:
    with namespace_in(postgres.address) as other:
        pristine = PostgresStore(postgres.address, SystemClock(), other)
        question = (
            "SELECT indexname, split_part(indexdef, ' USING ', 2) FROM pg_indexes "
            "WHERE schemaname = $1 AND tablename = 'jobs' ORDER BY 1"
        )
        theirs = await pristine.database.fetch(question, other)
        await pristine.close()
    ours = await store.database.fetch(question, store.database.names.namespace)
    assert [tuple(row) for row in ours] == [tuple(row) for row in theirs]
