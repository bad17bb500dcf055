"""Rates on PostgreSQL: its functions decide as the rule in Python does, and older rows are used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.model.instant import EPOCH
from drumbeat.model.job import JobSpec, Rate
from drumbeat.rules.rate_limiting import NO_STARTS, Starts, as_of, from_pace, opens_at, with_start
from drumbeat.stores.postgres import PostgresStore
from drumbeat.testing.conformance.builders import ANNE, NOON, after, insert, take, wanted
from servers import Postgres

from .hand_clock import HandClock
from .postgres_namespace import tell

MICROSECOND = timedelta(microseconds=1)
BEGIN = (NOON - EPOCH) // MICROSECOND
rates = st.builds(
    Rate,
    st.just("bell"),
    st.integers(1, 5) | st.integers(200, 400),
    st.sampled_from([timedelta(microseconds=70), timedelta(seconds=2), timedelta(days=1)]),
)
scripts = st.lists(
    st.tuples(rates, st.floats(-0.3, 0.4), st.integers(1, 60)), min_size=1, max_size=8
)
"""Each has a rate, a way of the clock in periods, and how many starts follow at even distances."""


@pytest.fixture
async def store(postgres: Postgres, namespace: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres.address, HandClock(), namespace)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def connection(store: PostgresStore, postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute(f"SET search_path = {store.database.names.schema}".encode())
        yield connection


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(scripts)
def test_the_functions_agree_with_the_rule(
    connection: psycopg.Connection[Any], script: list[tuple[Rate, float, int]]
) -> None:
    now, starts = BEGIN, NO_STARTS
    for rate, way, count in script:
        per = rate.per // MICROSECOND
        now += int(way * per)
        for _ in range(count):
            row = connection.execute(WITH_START, {**_values(starts, rate), "now": _at(now)})
            starts = with_start(starts, rate, now)
            assert _starts(row.fetchone()) == starts
            now += per // 100
        seen = connection.execute(AS_OF, {**_values(starts, rate), "now": _at(now - per)})
        assert _starts(seen.fetchone()) == as_of(starts, now - per)
        found = connection.execute(OPENS, _values(starts, rate)).fetchone()
        expected = opens_at(starts, rate)
        assert found == (None if expected is None else _at(expected),)


@pytest.mark.parametrize("ahead", [-1, 0, 1, 25, 26, 99, 100, 250])
def test_the_functions_agree_on_what_an_older_version_knew(
    connection: psycopg.Connection[Any], ahead: int
) -> None:
    rate = Rate("bell", 4, 100 * MICROSECOND)
    connection.execute("INSERT INTO paces VALUES ('bell', %s)", (_at(BEGIN + ahead),))
    row = connection.execute(RECENT, {"now": _at(BEGIN)}).fetchone()
    expected = as_of(from_pace(BEGIN + ahead, rate, BEGIN), BEGIN)
    assert _starts(row) == Starts(expected.times, expected.counts, 100)


async def test_a_rate_that_an_older_version_has_used_is_not_free(
    store: PostgresStore, postgres: Postgres, namespace: str
) -> None:
    """Three of four have started, as the row of the earlier rule says: one is left."""
    tell(postgres.address, f"INSERT INTO {namespace}.paces VALUES ('bell', '{after(7.5)}')")
    await insert(store, *[JobSpec("send", rate=Rate("bell", 4, timedelta(seconds=10)))] * 9)
    taken = await store.jobs.take(wanted(), ANNE, at=NOON)
    assert (len(taken.attempts), taken.try_at) == (1, after(7.5))
    assert len(await take(store, at=after(7.5))) == 3
    assert await take(store, at=after(9)) == ()
    assert len(await take(store, at=after(10))) == 1


WITH_START = """
SELECT s.times, s.counts, s.kept_for FROM rate_with_start_1(
    %(times)s::timestamptz[], %(counts)s::integer[], %(kept_for)s::bigint, %(per)s::bigint,
    %(now)s::timestamptz
) AS s
"""
AS_OF = """
SELECT s.times, s.counts, %(kept_for)s::bigint FROM rate_as_of_1(
    %(times)s::timestamptz[], %(counts)s::integer[], %(now)s::timestamptz
) AS s
"""
OPENS = """
SELECT rate_opens_1(
    %(times)s::timestamptz[], %(counts)s::integer[], %(most)s::bigint, %(per)s::bigint
)
"""
RECENT = """
SELECT s.times, s.counts, s.kept_for FROM recent_starts_1('bell', 4, 100, %(now)s) AS s
"""


def _at(number: int) -> object:
    return EPOCH + number * MICROSECOND


def _values(starts: Starts, rate: Rate) -> dict[str, object]:
    return {
        "times": [_at(time) for time in starts.times],
        "counts": list(starts.counts),
        "kept_for": starts.kept_for,
        "most": rate.at_most,
        "per": rate.per // MICROSECOND,
    }


def _starts(row: Any) -> Starts:
    times, counts, kept_for = row
    return Starts(tuple((time - EPOCH) // MICROSECOND for time in times), tuple(counts), kept_for)
