"""Benchmarks that start a fleet work, which no other test checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import due_schedules, tick_lateness
from bench.sqlite_jobs import store_at
from bench.take_over_fleet import take_overs


async def test_another_node_takes_over_from_a_killed_leader() -> None:
    (seconds,) = await take_overs(None, 2.0, 1, "bench")
    assert seconds > 0


async def test_all_schedules_of_the_benchmark_fire(tmp_path: Path) -> None:
    figures = await due_schedules.measure(
        store_at, str(tmp_path / "bench.db"), due_schedules.DECLARED
    )
    assert figures["schedules"] == due_schedules.DECLARED


def test_the_stages_of_each_tick_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick_lateness, "WARM", 0.5)
    setting = tick_lateness.Setting("memory://", "bench", tick_lateness.SCHEDULES)
    figures = tick_lateness.shown(
        tick_lateness.traces(setting, (tick_lateness.ALL_ROLES,), 3.0), 3.0
    )
    assert figures["ticks"] in (20, 30)
    assert {"commit asked, ms", "committed, ms", "claimed, ms", "started, ms"} <= set(figures)
