"""How long the promoter pauses: until the next job is due, by clocks that may differ."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.maintenance.promoter import AGAIN, MOMENT, Promoter
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Promoted, Ticket
from drumbeat.testing.runtime import FakeRuntime

TICKETS = (Ticket(JobId(1), "default"),)


@pytest.mark.parametrize(
    ("tickets", "due_in", "pause"),
    [
        ((), 0.5, 0.5),  # nothing to do until then
        (TICKETS, 0.5, 0.5),
        (TICKETS, 0.001, MOMENT),  # soon: what comes due until then is one batch
        (TICKETS, -0.002, MOMENT),  # it came due while the store answered
        ((), -0.002, MOMENT),
        ((), -3.0, AGAIN),  # our clock is ahead of the store's
        (TICKETS, -3.0, MOMENT),  # it may be, but there was something to do
        ((), 3.0, 1.0),  # hints may get lost: it looks every second
    ],
)
async def test_a_pause_lasts_until_the_next_job_is_due(
    monkeypatch: pytest.MonkeyPatch, tickets: tuple[Ticket, ...], due_in: float, pause: float
) -> None:
    runtime = FakeRuntime()
    store = MemoryStore(runtime.clock)
    next_at = runtime.clock.now() + timedelta(seconds=due_in)

    async def promote(_limit: int) -> Promoted:
        return Promoted(tickets, next_at)

    monkeypatch.setattr(store.jobs, "promote", promote)
    context = ServiceContext(runtime, Bus(runtime.clock))
    promoter = Promoter(store.jobs, MemoryQueue(runtime.clock), 1.0, context)
    assert await promoter.once() == pytest.approx(pause)
