"""Upcoming ticks: the plans that a leader has made for the next instants.

They are all that it keeps in memory between a read and a commit, for a tenth of a second at most.
Nothing relies on them: the store compares version, cursor and time of each plan with its own, so
one that is out of date is refused and the schedule is read again. See ADR 0045.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime

from drumbeat.model.schedules.plan import Plan


class Upcoming:
    """Plans for instants to come, the earliest first."""

    def __init__(self) -> None:
        self._plans: deque[Plan] = deque()

    @property
    def first_at(self) -> datetime | None:
        """The instant of the earliest plan."""
        return self._plans[0].as_of if self._plans else None

    def replace(self, plans: Iterable[Plan]) -> None:
        """Keep these, in place of all others."""
        self._plans = deque(sorted(plans, key=lambda planned: planned.as_of))

    def forget(self) -> None:
        self._plans.clear()

    def take_due(self, now: datetime) -> list[Plan]:
        """Remove and return the plans whose instant has come."""
        due: list[Plan] = []
        while self._plans and self._plans[0].as_of <= now:
            due.append(self._plans.popleft())
        return due
