"""Settlements: how attempts ended, as the arrays that the database takes, and its verdicts on them.

Attempts that completed their jobs, which are nearly all, go apart from the others: the database
closes them in one statement. Those of the first claim that have no result and no note go apart
again, as their numbers and nothing else. Within each kind they go in the order of their jobs, in
which everybody locks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from drumbeat.model.errors import IllegalChange
from drumbeat.model.ids import JobId
from drumbeat.model.job import Change, Hold, Settled, Settlement, Status, Superseded
from drumbeat.model.swift import swift
from drumbeat.rules.statuses import SETTLING
from drumbeat.stores.postgres.lengths import to_microseconds
from drumbeat.stores.postgres.texts import readable

Statuses: TypeAlias = Sequence[str | None] | None
"""By place, where each job stands, None: the hold was over. None for all: all are completed."""

COMPLETE, COMPLETED = Change.COMPLETE, Status.COMPLETED
FIRST_FENCE = 1
NOTHING: list[Any] = [None] * 11

new_settled = swift(Settled)
by_job = attrgetter("hold.job_id")


class Settlements:
    """A batch of them. Refuses a change that no settlement may make before anything is written."""

    def __init__(self, settlements: Sequence[Settlement]) -> None:
        self._given = settlements
        self._plain: list[JobId] = []
        self._done: list[Settlement] = []
        self._ended: list[Settlement] = []
        if len({settlement.hold.job_id for settlement in settlements}) < len(settlements):
            settlements = _without_repeats(settlements)
        plain = self._plain
        for settlement in settlements:
            if settlement.change is COMPLETE:
                hold = settlement.hold
                if (
                    hold.fence == FIRST_FENCE
                    and settlement.result is None
                    and settlement.error is None
                ):
                    plain.append(hold.job_id)
                else:
                    self._done.append(settlement)
            else:
                if settlement.change not in SETTLING:
                    raise IllegalChange(Status.RUNNING, settlement.change)
                self._ended.append(settlement)
        plain.sort()
        self._done.sort(key=by_job)
        self._ended.sort(key=by_job)

    @property
    def arrays(self) -> list[Any]:
        """The arrays, in the order of the parameters of every function that settles."""
        if not self._given:
            return NOTHING
        done, ended = self._done, self._ended
        return [
            # As a text, since the client takes its time over each element of an array.
            f"{{{','.join(map(str, self._plain))}}}" if self._plain else None,
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
        self, plain: Statuses, done: Statuses, ended: Statuses
    ) -> list[Settled | Superseded]:
        """The verdicts on what was given, in its order."""
        if plain is None and len(self._plain) == len(self._given):
            return [new_settled(settlement.hold, COMPLETED) for settlement in self._given]
        stands: dict[Hold, str | None] = {}
        for place, job_id in enumerate(self._plain):
            stands[Hold(job_id, FIRST_FENCE)] = plain[place] if plain else COMPLETED
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


def _without_repeats(settlements: Sequence[Settlement]) -> Sequence[Settlement]:
    """The first one of each hold: a second one comes too late."""
    first: dict[Hold, Settlement] = {}
    for settlement in settlements:
        if settlement.change is not COMPLETE and settlement.change not in SETTLING:
            raise IllegalChange(Status.RUNNING, settlement.change)
        first.setdefault(settlement.hold, settlement)
    return [*first.values()]


def _unless_empty(values: list[Any]) -> list[Any] | None:
    """None in place of an array that has nothing but nulls."""
    return None if values.count(None) == len(values) else values
