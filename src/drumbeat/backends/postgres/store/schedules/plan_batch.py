"""A batch of plans, as the composites that the database takes, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from drumbeat.backends.postgres.store.jobs.new_jobs import JobBatch, NewJobs, once
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.schedules.plan import Committed, Fire, Plan, Raced

new_committed = fast_constructor(Committed)


class SchedulePlans(NamedTuple):
    """The composite type `schedule_plans`. An array of one value stands for all."""

    names: list[str]
    versions: list[int]
    cursors: list[datetime]
    new_cursors: list[datetime]
    next_ticks: list[datetime | None]
    assumes_unfinished: list[bool | None]
    rounds: list[int] | None


class PlanFires(NamedTuple):
    """The composite type `plan_fires`. Plans are counted from one, as in arrays of PostgreSQL."""

    plans: list[int]
    ticks: list[datetime]


class PlanSkips(NamedTuple):
    """The composite type `plan_skips`."""

    plans: list[int]
    ticks: list[datetime]
    throughs: list[datetime]
    counts: list[int]
    reasons: list[str]


class PlanCancels(NamedTuple):
    """The composite type `plan_cancels`."""

    plans: list[int]
    jobs: list[JobId]


class PlanBatch:
    """A batch of plans."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans
        self._fires: list[Fire] = []
        self._fire_plans: list[int] = []
        for number, plan in enumerate(plans, start=1):
            self._fires.extend(plan.fires)
            self._fire_plans.extend([number] * len(plan.fires))

    @property
    def values(self) -> tuple[SchedulePlans, PlanFires, NewJobs, PlanSkips, PlanCancels]:
        """The parameters of `commit_plans`."""
        plans = self._plans
        skips = [(number, skip) for number, plan in enumerate(plans, 1) for skip in plan.skips]
        cancels = [(number, job) for number, plan in enumerate(plans, 1) for job in plan.cancels]
        return (
            SchedulePlans(
                [plan.name for plan in plans],
                once([plan.before.version for plan in plans]),
                once([plan.before.cursor for plan in plans]),
                once([plan.cursor for plan in plans]),
                once([plan.next_tick for plan in plans]),
                once([plan.assumes_unfinished for plan in plans]),
                self._rounds(),
            ),
            PlanFires(self._fire_plans, once([fire.tick_at for fire in self._fires])),
            JobBatch([fire.job for fire in self._fires]).new_jobs,
            PlanSkips(
                [number for number, _ in skips],
                [skip.tick_at for _, skip in skips],
                [skip.through for _, skip in skips],
                [skip.count for _, skip in skips],
                [skip.reason.value for _, skip in skips],
            ),
            PlanCancels([number for number, _ in cancels], [job for _, job in cancels]),
        )

    def verdicts(
        self, written: Sequence[bool], ids: Sequence[JobId | None]
    ) -> list[Committed | Raced]:
        """The verdict on each plan, in their order."""
        verdicts: list[Committed | Raced] = []
        first = 0
        for plan, stands in zip(self._plans, written, strict=True):
            last = first + len(plan.fires)
            if stands:
                jobs = tuple(job for job in ids[first:last] if job is not None)
                verdicts.append(new_committed(plan.name, jobs))
            else:
                verdicts.append(Raced(plan.name))
            first = last
        return verdicts

    def _rounds(self) -> list[int] | None:
        """For each plan, how many of the same schedule come before it; None: none for any."""
        rounds: list[int] = []
        counts: dict[str, int] = {}
        for plan in self._plans:
            rounds.append(counts.get(plan.name, 0))
            counts[plan.name] = rounds[-1] + 1
        return rounds if len(counts) < len(rounds) else None
