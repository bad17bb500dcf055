"""Waits for the end of a job by several requests: proxies cut off longer ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from drumbeat.fleet.endpoint import endpoint_of
from drumbeat.fleet.jobs import FleetJobs
from drumbeat.fleet.remote.resource import request_of
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.time.duration import Duration, seconds_of
from drumbeat.wire.job import JobView

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

WAIT = endpoint_of(FleetJobs.wait)
LONGEST_WAIT = 25.0
"""Seconds that one request waits."""


async def finished_within(
    transport: Transport, job_id: int, timeout: Duration | None, what: str
) -> JobView:
    """The finished job; `WaitTimeout`, which says what did not happen, after this time."""
    seconds = seconds_of(timeout)
    clock = asyncio.get_running_loop().time
    deadline = None if seconds is None else clock() + seconds
    while True:
        left = LONGEST_WAIT if deadline is None else max(0.0, deadline - clock())
        step = round(min(LONGEST_WAIT, left), 3)
        request = request_of(WAIT, {"job_id": job_id, "timeout": step})
        try:
            return (await transport.send(request)).read(JobView)
        except WaitTimeout:
            if deadline is not None and clock() >= deadline:
                raise WaitTimeout(f"{what} within {seconds:g} s") from None
