"""Tasks by name: parameters, a future time, retries, observers of the status, and the history.

A report is sent at once and another one in a moment, a payment fails twice and succeeds, a fax
fails for good. Two observers are told of every change of a status. When all jobs are done, each
one's attempts are listed with their errors.

    python examples/retries_and_history.py
    python examples/retries_and_history.py mongodb://localhost:27017/app
    STORE=postgresql://localhost/app python examples/retries_and_history.py
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from datetime import UTC, datetime, timedelta

from drumbeat import Context, Drumbeat, Job, Retry, Status
from drumbeat.model.events import AttemptStarted, JobSettled, JobSubmitted

PATIENCE = "60s"
SOON = timedelta(seconds=1)


class PaymentDown(Exception):
    """The payment service does not answer."""


class NoDialTone(Exception):
    """The fax line is dead."""


class Observer:
    """Collects the statuses that jobs took, in their order."""

    def __init__(self, app: Drumbeat) -> None:
        self.seen: dict[int, list[str]] = {}
        app.on(JobSubmitted)(self._submitted)
        app.on(AttemptStarted)(self._started)
        app.on(JobSettled)(self._settled)

    def _submitted(self, event: JobSubmitted) -> None:
        self._add(event.job.id, event.job.status)

    def _started(self, event: AttemptStarted) -> None:
        self._add(event.attempt.job_id, Status.RUNNING)

    def _settled(self, event: JobSettled) -> None:
        self._add(event.settlement.hold.job_id, event.status)

    def _add(self, job: int, status: Status) -> None:
        self.seen.setdefault(job, []).append(str(status))


def register_failing(app: Drumbeat) -> None:
    """Register the handlers that fail, by their names."""

    @app.task(name="charge", retry=Retry.backpressure(max_retries=5, base_delay=0.2))
    async def charge(ctx: Context, amount: int) -> str:
        if ctx.attempt.number < 3:
            raise PaymentDown(f"simulated failure of attempt {ctx.attempt.number}")
        return f"charged {amount}"

    @app.task(name="fax", retry=Retry.linear(max_retries=2, delay=0.2))
    async def fax(number: str) -> None:
        raise NoDialTone(f"no dial tone for {number}")


async def tell(store: str) -> int:
    """Run the example, and check its result."""
    app = Drumbeat(store, environment={}, grace=1)
    register_failing(app)

    @app.task(name="send-report")
    async def send_report(recipient: str, pages: int) -> str:
        return f"{pages} pages to {recipient}"

    first, second = Observer(app), Observer(app)
    async with app.running():
        later = datetime.now(UTC) + SOON
        jobs = [
            await app.jobs.submit("send-report", ["anna@example.net", 3]),
            await send_report.options(run_at=later).submit("bert@example.net", pages=7),
            await app.jobs.submit("charge", kwargs={"amount": 42}),
            await app.jobs.submit("fax", ["555-0100"]),
        ]
        await app.wait_until_idle(PATIENCE)
        done = [await app.jobs.get(job) for job in jobs]
        for job in done:
            await show(app, job, first.seen[job.id])
    in_time = done[1].started_at is not None and done[1].started_at >= later
    statuses = [str(job.status) for job in done]
    expected = ["completed", "completed", "completed", "failed"]
    return 0 if (statuses, in_time, first.seen) == (expected, True, second.seen) else 1


async def show(app: Drumbeat, job: Job, seen: list[str]) -> None:
    """Print a job, the statuses that it took, and all its attempts."""
    print(f"{job.task}: {' -> '.join(seen)}", flush=True)
    for attempt in await app.jobs.attempts(job):
        error = (attempt.error or "no error").splitlines()[-1]
        print(f"  attempt {attempt.number}: {attempt.change}, {error}")


def main() -> int:
    """Take the store from the command line or the environment, else use memory."""
    logging.basicConfig(level=logging.CRITICAL)
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("STORE")
    return asyncio.run(tell(given or "memory://"))


if __name__ == "__main__":
    sys.exit(main())
