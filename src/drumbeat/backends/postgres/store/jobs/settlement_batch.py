"""A batch of settlements: as the composite `settlements` that the database takes, and its verdicts.

Most attempts complete their jobs at the first claim, without result or note: these are sent as ids
only. Each group is sorted by id: all statements lock jobs in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.store.storable_text import readable
from drumbeat.backends.postgres.store.time import to_microseconds
from drumbeat.model.errors import IllegalChange
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Change, Hold, Settled, Settlement, Status, Superseded
from drumbeat.rules.jobs.transitions import SETTLING

COMPLETE, COMPLETED = Change.COMPLETE, Status.COMPLETED
FIRST_FENCE = 1

new_settled = fast_constructor(Settled)
by_job = attrgetter("hold.job_id")


class Settlements(NamedTuple):
    """The composite type `settlements`."""

    plain: str | None
    completed: list[int]
    completed_fences: list[int]
    results: list[bytes | None] | None
    notes: list[str | None] | None
    ended: list[int]
    ended_fences: list[int]
    changes: list[str]
    delays: list[int]
    outcomes: list[bytes | None]
    errors: list[str | None]


class SettlementBatch:
    """A batch of settlements. Rejects a change that no settlement may make."""

    def __init__(self, settlements: Sequence[Settlement]) -> None:
        self._given = settlements
        self._plain: list[JobId] = []
        self._completed: list[Settlement] = []
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
                    self._completed.append(settlement)
            else:
                if settlement.change not in SETTLING:
                    raise IllegalChange(Status.RUNNING, settlement.change)
                self._ended.append(settlement)
        plain.sort()
        self._completed.sort(key=by_job)
        self._ended.sort(key=by_job)

    @property
    def settlements(self) -> Settlements | None:
        if not self._given:
            return None
        completed, ended = self._completed, self._ended
        return Settlements(
            f"{{{','.join(map(str, self._plain))}}}" if self._plain else None,
            [settlement.hold.job_id for settlement in completed],
            [settlement.hold.fence for settlement in completed],
            _unless_empty([settlement.result for settlement in completed]),
            _unless_empty([readable(settlement.error) for settlement in completed]),
            [settlement.hold.job_id for settlement in ended],
            [settlement.hold.fence for settlement in ended],
            [settlement.change.value for settlement in ended],
            [to_microseconds(settlement.delay) for settlement in ended],
            [settlement.result for settlement in ended],
            [readable(settlement.error) for settlement in ended],
        )

    def verdicts(self, statuses: Record | None) -> list[Settled | Superseded]:
        """The verdicts in the caller's order, from a `settlement_verdicts`."""
        plain, completed, ended = statuses or (None, None, None)
        if plain is None and len(self._plain) == len(self._given):
            return [new_settled(settlement.hold, COMPLETED) for settlement in self._given]
        holds = [
            *(Hold(job_id, FIRST_FENCE) for job_id in self._plain),
            *(settlement.hold for settlement in self._completed),
            *(settlement.hold for settlement in self._ended),
        ]
        found: dict[Hold, str | None] = dict(
            zip(
                holds,
                [
                    *([COMPLETED] * len(self._plain) if plain is None else plain),
                    *([COMPLETED] * len(self._completed) if completed is None else completed),
                    *(ended or ()),
                ],
                strict=True,
            )
        )
        verdicts: list[Settled | Superseded] = []
        for settlement in self._given:
            status = found.pop(settlement.hold, None)
            verdicts.append(
                Superseded(settlement.hold)
                if status is None
                else new_settled(settlement.hold, Status(status))
            )
        return verdicts


def _without_repeats(settlements: Sequence[Settlement]) -> Sequence[Settlement]:
    """The first settlement of each hold: a second one is too late."""
    first: dict[Hold, Settlement] = {}
    for settlement in settlements:
        if settlement.change is not COMPLETE and settlement.change not in SETTLING:
            raise IllegalChange(Status.RUNNING, settlement.change)
        first.setdefault(settlement.hold, settlement)
    return [*first.values()]


def _unless_empty(values: list[Any]) -> list[Any] | None:
    return None if values.count(None) == len(values) else values
