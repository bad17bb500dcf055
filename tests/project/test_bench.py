"""Benchmarks that start a fleet do start one: nobody else would notice if they did not."""

from __future__ import annotations

from bench.takeovers import take_overs


async def test_a_killed_leader_is_taken_over_from() -> None:
    (seconds,) = await take_overs(None, 2.0, 1, "bench")
    assert seconds > 0
