"""Outages: a coordinator that does not answer, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Outage:
    """Consecutive failures: the last error, the time of the first, and their number."""

    error: BaseException
    since: datetime
    failures: int

    def then(self, error: BaseException) -> Outage:
        return Outage(error, self.since, self.failures + 1)

    def __str__(self) -> str:
        text = str(self.error) or type(self.error).__name__
        return f"no answer since {self.since.isoformat(timespec='seconds')}: {text}"
