"""Commits: plans and edits of schedules, as the arrays that the database takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drumbeat.model.ids import JobId
from drumbeat.model.plan import Committed, Edit, Fire, Plan, Raced
from drumbeat.model.swift import swift
from drumbeat.stores.postgres.definitions import row_of
from drumbeat.stores.postgres.ledger import skip_arrays
from drumbeat.stores.postgres.specs import Specs
from drumbeat.stores.postgres.texts import name

COLUMNS = 13

new_committed = swift(Committed)


class Plans:
    """A batch of plans. Their numbers begin at one, as the places of PostgreSQL's arrays do."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._fires: list[Fire] = []
        self._owners: list[int] = []
        for number, plan in enumerate(plans, start=1):
            self._firsts.append(len(self._fires) + 1)
            self._fires.extend(plan.fires)
            self._lasts.append(len(self._fires))
            self._owners.extend([number] * len(plan.fires))

    @property
    def arrays(self) -> list[Any]:
        """The arrays, in the order of the function's parameters."""
        plans = self._plans
        cancels = [
            (number, job) for number, plan in enumerate(plans, start=1) for job in plan.cancels
        ]
        return [
            [plan.name for plan in plans],
            _once([plan.before.version for plan in plans]),
            _once([plan.before.cursor for plan in plans]),
            _once([plan.cursor for plan in plans]),
            _once([plan.next_tick for plan in plans]),
            _once([plan.assumes_unfinished for plan in plans]),
            self._rounds(),
            self._owners,
            _once([fire.tick_at for fire in self._fires]),
            *map(_once, Specs([fire.job for fire in self._fires]).arrays),
            *skip_arrays(
                (number, skip) for number, plan in enumerate(plans, start=1) for skip in plan.skips
            ),
            [number for number, _ in cancels],
            [job for _, job in cancels],
        ]

    def verdicts(
        self, written: Sequence[bool], ids: Sequence[JobId | None]
    ) -> list[Committed | Raced]:
        """What became of each plan, in their order."""
        return [
            new_committed(plan.name, tuple(job for job in ids[first - 1 : last] if job is not None))
            if stands
            else Raced(plan.name)
            for plan, stands, first, last in zip(
                self._plans, written, self._firsts, self._lasts, strict=True
            )
        ]

    def _rounds(self) -> list[int] | None:
        """For each plan, how many of the same schedule come before it; None: there are none."""
        rounds: list[int] = []
        counts: dict[str, int] = {}
        for plan in self._plans:
            rounds.append(counts.get(plan.name, 0))
            counts[plan.name] = rounds[-1] + 1
        return rounds if len(counts) < len(rounds) else None


def _once(values: list[Any] | None) -> list[Any] | None:
    """One value for all, where all are the same: each that is sent takes its time."""
    if values and values.count(values[0]) == len(values):
        return values[:1]
    return values


class Edits:
    """A batch of edits, in the order of their names: in that order everybody locks schedules."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.order = sorted(range(len(edits)), key=lambda index: edits[index].name)
        self._edits = [edits[index] for index in self.order]

    @property
    def arrays(self) -> list[list[Any]]:
        """The arrays, in the order of the function's parameters."""
        edits = self._edits
        befores = [edit.before for edit in edits]
        rows = [row_of(edit.after) if edit.after else (None,) * COLUMNS for edit in edits]
        return [
            [name("a schedule's name", edit.name) for edit in edits],
            [before and before.version for before in befores],
            [before and before.cursor for before in befores],
            *([row[column] for row in rows] for column in range(COLUMNS)),
            *skip_arrays(
                (number, skip) for number, edit in enumerate(edits, start=1) for skip in edit.skips
            ),
        ]
