"""Benchmarks that start a fleet do start one: nobody else would notice if they did not."""

from __future__ import annotations

from pathlib import Path

from bench import ticking
from bench.sqlite_jobs import store_at
from bench.takeovers import take_overs


async def test_a_killed_leader_is_taken_over_from() -> None:
    (seconds,) = await take_overs(None, 2.0, 1, "bench")
    assert seconds > 0


async def test_all_schedules_of_the_benchmark_fire(tmp_path: Path) -> None:
    figures = await ticking.measure(store_at, str(tmp_path / "bench.db"), ticking.DECLARED)
    assert figures["schedules"] == ticking.DECLARED
