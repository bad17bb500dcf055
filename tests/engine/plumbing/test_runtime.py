"""The machine's clock: calls that come right on time."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from drumbeat.engine.plumbing import runtime
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.testing.conformance.builders import let_others_run


async def test_a_punctual_call_is_never_early() -> None:
    clock = SystemClock()
    for seconds in (0.0, 0.0004, 0.0021, 0.0107):
        rung: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        begun = clock.elapsed()
        clock.call_punctually(seconds, partial(_note, clock, rung))
        assert await rung - begun >= seconds


async def test_a_punctual_call_that_was_cancelled_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, rung, last = SystemClock(), asyncio.Event(), asyncio.Event()
    sleeping = clock.call_punctually(0.1, rung.set)
    monkeypatch.setattr(runtime, "COARSE", 10.0)
    turning = clock.call_punctually(0.1, rung.set)
    for _ in range(3):
        await let_others_run()
    sleeping.cancel()
    turning.cancel()
    clock.call_punctually(0.11, last.set)
    await last.wait()
    assert not rung.is_set()


def _note(clock: SystemClock, rung: asyncio.Future[float]) -> None:
    rung.set_result(clock.elapsed())
