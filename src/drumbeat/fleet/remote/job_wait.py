"""Waits for the end of a job by several requests: proxies cut off longer ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from drumbeat.fleet.remote.resource import request_for
from drumbeat.model.errors import WaitTimeout
from drumbeat.wire.job import JobView

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

LONGEST_WAIT = 25.0
"""Seconds that one request waits."""


async def finished_within(
    transport: Transport, job_id: int, clock: Callable[[], float], timeout: float | None
) -> JobView | None:
    """The finished job; None if it is not finished within `timeout` seconds."""
    deadline = None if timeout is None else clock() + timeout
    while True:
        left = LONGEST_WAIT if deadline is None else max(0.0, deadline - clock())
        step = min(LONGEST_WAIT, left)
        query = [("timeout", f"{step:.3f}")]
        request = request_for("GET", "jobs", job_id, "wait", query=query, extra_seconds=step)
        try:
            return (await transport.send(request)).read(JobView)
        except WaitTimeout:
            if deadline is not None and clock() >= deadline:
                return None
