"""Stored: what the store says that it did is looked up in it at once, in the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeAlias, cast

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Inserted, Job, Settled
from drumbeat.model.schedules.plan import Backfilled, Committed
from simulation.checkers.reading import settled_by, written_by
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher
from simulation.history import Applied, History

Look: TypeAlias = Callable[[Sequence[JobId]], Sequence[Job | None]]
"""Reads jobs past the network."""


class WhatWasSaidIsThere(ServerWatcher):
    """S1, S3, S16, S17: a write is in the store as a whole as soon as it is answered."""

    calls = frozenset({"commit", "backfill", "insert", "take", "settle", "reap"})

    def __init__(self, history: History, look: Look) -> None:
        super().__init__(history)
        self._look = look
        self._fired: dict[tuple[str, datetime], JobId] = {}

    def see(self, step: Applied) -> Iterator[Violation]:
        """Look up what the answer speaks of."""
        if step.error is not None:
            return
        match step.call:
            case "commit":
                for commit in written_by(step):
                    assert isinstance(commit.verdict, Committed)
                    yield from self._fires(step, commit.plan.name, commit.verdict.jobs)
            case "backfill":
                jobs = [
                    each.job_id
                    for each in cast("Sequence[object]", step.answer)
                    if isinstance(each, Backfilled)
                ]
                yield from self._fires(step, cast("str", step.arguments[0]), jobs)
            case "insert":
                yield from self._inserted(step)
            case _:
                yield from self._settled(step)

    def _fires(self, said: Applied, name: str, jobs: Sequence[JobId]) -> Iterator[Violation]:
        for job_id, job in zip(jobs, self._look(jobs), strict=True):
            if job is None or job.spec.schedule != name or job.spec.tick_at is None:
                text = f"{said.by} fired {name} with job {job_id}, which is {job!r}"
                yield Violation("S3", said.at, text)
                continue
            tick = name, job.spec.tick_at
            if tick in self._fired:
                first = self._fired[tick]
                text = f"{said.by} fired {name} at {tick[1]} as job {job_id}, and as {first} before"
                yield Violation("S1", said.at, text)
            self._fired[tick] = job_id

    def _inserted(self, said: Applied) -> Iterator[Violation]:
        verdicts = cast("Sequence[object]", said.answer)
        created = [each.job for each in verdicts if isinstance(each, Inserted)]
        for job, found in zip(created, self._look([job.id for job in created]), strict=True):
            if found is None:
                yield Violation("S17", said.at, f"job {job.id} was created, and is not there")
            elif found.spec != job.spec:
                yield Violation("S16", said.at, f"job {job.id} is not as it was submitted")

    def _settled(self, said: Applied) -> Iterator[Violation]:
        settled = [
            (settlement, verdict)
            for settlement, verdict in settled_by(said)
            if isinstance(verdict, Settled) and verdict.status.final
        ]
        found = self._look([settlement.hold.job_id for settlement, _ in settled])
        for (settlement, verdict), job in zip(settled, found, strict=True):
            if job is None or job.status is not verdict.status:
                stands = "gone" if job is None else job.status
                job_id = settlement.hold.job_id
                text = f"job {job_id} was settled as {verdict.status}, and is {stands}"
                yield Violation("S17", said.at, text)
