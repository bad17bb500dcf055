"""Rates on PostgreSQL: its functions decide as the rule in Python does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.model.jobs.job import Rate
from drumbeat.model.time.instant import EPOCH
from drumbeat.rules.jobs.rate_window import (
    NO_STARTS,
    Starts,
    as_of,
    opens_at,
    with_start,
)
from drumbeat.testing.conformance.builders import NOON
from servers import Postgres

from .hand_clock import HandClock

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


WITH_START = """
SELECT s.times, s.counts, s.kept_for FROM starts_with_one_more(
    %(times)s::timestamptz[], %(counts)s::integer[], %(kept_for)s::bigint, %(per)s::bigint,
    %(now)s::timestamptz
) AS s
"""
AS_OF = """
SELECT s.times, s.counts, %(kept_for)s::bigint FROM starts_as_of(
    %(times)s::timestamptz[], %(counts)s::integer[], %(now)s::timestamptz
) AS s
"""
OPENS = """
SELECT starts_open_at(
    %(times)s::timestamptz[], %(counts)s::integer[], %(most)s::bigint, %(per)s::bigint
)
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
