"""Errors about a job: those that a caller waits for, and those that its handler raises."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from drumbeat.model.errors.invalid_input import InvalidInput, InvalidOption
from drumbeat.model.errors.root import DrumbeatError


class WaitTimeout(DrumbeatError, TimeoutError):
    """A wait took longer than its time-out."""

    kind = "not-in-time"


class JobFailed(DrumbeatError):
    """The awaited job failed or was cancelled."""

    def __init__(self, job_id: int, status: str, error: str | None) -> None:
        self.job_id = job_id
        self.status = status
        self.error = error
        super().__init__(f"job {job_id} {status}" + (f": {error}" if error else ""))


class Outcome(DrumbeatError):
    """Raised by a handler to snooze or cancel its job. Neither is a failure."""


class Snooze(Outcome):
    """Run this job again later, after seconds, `"10m"` or a timedelta; no attempt is counted."""

    def __init__(self, delay: float | str | timedelta) -> None:
        from drumbeat.model.time.duration import parse_duration  # noqa: PLC0415 - it imports errors

        try:
            self.delay = parse_duration(delay)
        except InvalidInput as error:
            raise InvalidOption(f"Snooze: {error}") from None
        super().__init__(f"snoozed for {self.delay.total_seconds():g} s")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Snooze, (self.delay,))


class Fail(DrumbeatError):
    """Fail this job now, with a reason: it is not retried."""

    def __init__(self, reason: str = "failed by its handler") -> None:
        self.reason = reason
        super().__init__(reason)


class Cancel(Outcome):
    """End this job as cancelled, with a reason."""

    def __init__(self, reason: str = "cancelled by its handler") -> None:
        self.reason = reason
        super().__init__(reason)
