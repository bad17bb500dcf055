"""Wholeness: what must hold in every file at every commit, checked by SQL of its own."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

PLACES = ("pending", "queued", "running", "finished")


def check_whole(path: Path) -> None:
    """Fail with the rows that contradict each other."""
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        _each_job_stands_in_one_place(connection)
        _lanes_count_their_jobs(connection)
        _limit_groups_count_their_jobs(connection)
        _limit_usage_counts_what_runs(connection)
        _every_limited_group_has_its_front(connection)
        _every_front_has_its_group(connection)
        _ticks_that_fired_have_their_jobs(connection)
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, text: str) -> list[tuple[Any, ...]]:
    return connection.execute(text).fetchall()


def _each_job_stands_in_one_place(connection: sqlite3.Connection) -> None:
    places: Counter[int] = Counter()
    for table in PLACES:
        places.update(number for (number,) in _rows(connection, f"SELECT id FROM {table}"))
    jobs = {number for (number,) in _rows(connection, "SELECT id FROM jobs")}
    assert places == Counter(dict.fromkeys(jobs, 1))


def _lanes_count_their_jobs(connection: sqlite3.Connection) -> None:
    counted = _rows(
        connection,
        """
        WITH standing AS (
            SELECT id, 'pending' AS status FROM pending
            UNION ALL SELECT id, 'queued' FROM queued
            UNION ALL SELECT id, 'running' FROM running
            UNION ALL SELECT id, status FROM finished
        )
        SELECT limit_groups.lane, standing.status, count(*)
        FROM standing JOIN jobs USING (id) JOIN limit_groups ON limit_groups.id = jobs.limit_group
        GROUP BY 1, 2
        """,
    )
    statuses = ("pending", "queued", "running", "completed", "failed", "cancelled")
    kept = [
        (lane, status, count)
        for lane, *counts in _rows(connection, f"SELECT id, {', '.join(statuses)} FROM lanes")
        for status, count in zip(statuses, counts, strict=True)
        if count
    ]
    assert sorted(kept) == sorted(counted)


def _limit_groups_count_their_jobs(connection: sqlite3.Connection) -> None:
    counted = _rows(
        connection,
        """
        SELECT jobs.limit_group, count(*)
        FROM jobs JOIN limit_groups ON limit_groups.id = jobs.limit_group
        WHERE limit_groups.id <> limit_groups.lane GROUP BY 1 ORDER BY 1
        """,
    )
    kept = _rows(connection, "SELECT id, jobs FROM limit_groups WHERE jobs <> 0 ORDER BY id")
    assert kept == counted


def _limit_usage_counts_what_runs(connection: sqlite3.Connection) -> None:
    running: Counter[str] = Counter()
    for (limits,) in _rows(
        connection,
        "SELECT limits FROM running JOIN limit_groups ON limit_groups.id = running.limit_group",
    ):
        running.update(key for key, *_ in json.loads(limits or "[]"))
    assert dict(_rows(connection, "SELECT key, running FROM limit_usage")) == dict(running)


def _every_limited_group_has_its_front(connection: sqlite3.Connection) -> None:
    forgotten = _rows(
        connection,
        """
        SELECT queued.* FROM queued JOIN limit_groups ON limit_groups.id = queued.limit_group
        LEFT JOIN fronts ON fronts.limit_group = queued.limit_group
        WHERE limit_groups.limits || limit_groups.rate <> '' AND (
            fronts.limit_group IS NULL
            OR (queued.rank, queued.run_at, queued.id) < (fronts.rank, fronts.run_at, fronts.id)
        )
        """,
    )
    assert forgotten == []


def _every_front_has_its_group(connection: sqlite3.Connection) -> None:
    orphans = _rows(
        connection,
        """
        SELECT fronts.* FROM fronts LEFT JOIN limit_groups
        ON limit_groups.id = fronts.limit_group AND limit_groups.lane = fronts.lane
        WHERE limit_groups.id IS NULL
        """,
    )
    assert orphans == []


def _ticks_that_fired_have_their_jobs(connection: sqlite3.Connection) -> None:
    last = connection.execute("SELECT job FROM counters").fetchone()[0]
    fired = _rows(connection, "SELECT job FROM ticks WHERE number = 0")
    assert len(fired) == len(set(fired))
    assert all(0 < job <= last for (job,) in fired)
