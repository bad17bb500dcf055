"""Settlements: how attempts ended, as the arrays that the database takes, and its verdicts on them.

Attempts that completed their jobs, which are nearly all, go apart from the others: the database
closes them in one statement. Within each kind they go in the order of their jobs, in which
everybody locks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from drumbeat.model.errors import IllegalChange
from drumbeat.model.job import Change, Hold, Settled, Settlement, Status, Superseded
from drumbeat.model.swift import swift
from drumbeat.rules.statuses import SETTLING
from drumbeat.stores.postgres.lengths import to_microseconds
from drumbeat.stores.postgres.texts import readable

COMPLETE, COMPLETED = Change.COMPLETE, Status.COMPLETED
NOTHING: list[Any] = [None] * 10

new_settled = swift(Settled)
by_job = attrgetter("hold.job_id")


class Settlements:
    """A batch of them. Refuses a change that no settlement may make before anything is written."""

    def __init__(self, settlements: Sequence[Settlement]) -> None:
        self._given = settlements
        self._done: list[Settlement] = []
        self._ended: list[Settlement] = []
        seen: set[Hold] = set()
        for settlement in settlements:
            change = settlement.change
            if change is not COMPLETE and change not in SETTLING:
                raise IllegalChange(Status.RUNNING, change)
            if settlement.hold not in seen:  # a second one of the same hold comes too late
                seen.add(settlement.hold)
                (self._done if change is COMPLETE else self._ended).append(settlement)
        self._done.sort(key=by_job)
        self._ended.sort(key=by_job)

    @property
    def arrays(self) -> list[Any]:
        """The arrays, in the order of the parameters of every function that settles."""
        if not self._given:
            return NOTHING
        done, ended = self._done, self._ended
        return [
            [settlement.hold.job_id for settlement in done],
            [settlement.hold.fence for settlement in done],
            _unless_empty([settlement.result for settlement in done]),
            _unless_empty([readable(settlement.error) for settlement in done]),
            [settlement.hold.job_id for settlement in ended],
            [settlement.hold.fence for settlement in ended],
            [settlement.change.value for settlement in ended],
            [to_microseconds(settlement.delay) for settlement in ended],
            [settlement.result for settlement in ended],
            [readable(settlement.error) for settlement in ended],
        ]

    def verdicts(
        self, done: Sequence[str | None] | None, ended: Sequence[str | None] | None
    ) -> list[Settled | Superseded]:
        """The verdicts on what was given, in its order."""
        if done is None and not self._ended and len(self._done) == len(self._given):
            return [new_settled(settlement.hold, COMPLETED) for settlement in self._given]
        stands: dict[Hold, str | None] = {}
        for settlements, statuses in ((self._done, done), (self._ended, ended)):
            for place, settlement in enumerate(settlements):
                stands[settlement.hold] = statuses[place] if statuses else COMPLETED
        verdicts: list[Settled | Superseded] = []
        for settlement in self._given:
            status = stands.pop(settlement.hold, None)
            verdicts.append(
                Superseded(settlement.hold)
                if status is None
                else new_settled(settlement.hold, Status(status))
            )
        return verdicts


def _unless_empty(values: list[Any]) -> list[Any] | None:
    """None in place of an array that has nothing but nulls."""
    return None if values.count(None) == len(values) else values
