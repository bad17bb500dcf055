"""Compares each answer of the store with the content of the store, in the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeAlias, cast

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Inserted, Job, Settled
from drumbeat.model.schedules.plan import Backfilled, Committed
from simulation.checkers.history_queries import settled_by, written_by
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher
from simulation.history import ExecutedRequest, History

ReadJobs: TypeAlias = Callable[[Sequence[JobId]], Sequence[Job | None]]
"""Reads jobs from the store, bypassing the network."""


class AnswersAreStored(ServerWatcher):
    """S1, S3, S16, S17: a write is in the store as a whole when it is answered."""

    calls = frozenset({"commit", "backfill", "insert", "take", "settle", "reap"})

    def __init__(self, history: History, read_jobs: ReadJobs) -> None:
        super().__init__(history)
        self._read_jobs = read_jobs
        self._fired: dict[tuple[str, datetime], JobId] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
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

    def _fires(
        self, request: ExecutedRequest, name: str, jobs: Sequence[JobId]
    ) -> Iterator[Violation]:
        for job_id, job in zip(jobs, self._read_jobs(jobs), strict=True):
            if job is None or job.spec.schedule != name or job.spec.tick_at is None:
                text = f"{request.by} fired {name} with job {job_id}, which is {job!r}"
                yield Violation("S3", request.at, text)
                continue
            tick = name, job.spec.tick_at
            if tick in self._fired:
                first = self._fired[tick]
                text = (
                    f"{request.by} fired {name} at {tick[1]} as job {job_id}, and as {first} before"
                )
                yield Violation("S1", request.at, text)
            self._fired[tick] = job_id

    def _inserted(self, request: ExecutedRequest) -> Iterator[Violation]:
        verdicts = cast("Sequence[object]", request.answer)
        created = [each.job for each in verdicts if isinstance(each, Inserted)]
        for job, found in zip(created, self._read_jobs([job.id for job in created]), strict=True):
            if found is None:
                yield Violation(
                    "S17", request.at, f"job {job.id} was created, and is not in the store"
                )
            elif found.spec != job.spec:
                yield Violation("S16", request.at, f"job {job.id} is not as it was submitted")

    def _settled(self, request: ExecutedRequest) -> Iterator[Violation]:
        settled = [
            (settlement, verdict)
            for settlement, verdict in settled_by(request)
            if isinstance(verdict, Settled) and verdict.status.final
        ]
        found = self._read_jobs([settlement.hold.job_id for settlement, _ in settled])
        for (settlement, verdict), job in zip(settled, found, strict=True):
            if job is None or job.status is not verdict.status:
                found_as = "gone" if job is None else job.status
                job_id = settlement.hold.job_id
                text = f"job {job_id} was settled as {verdict.status}, and is {found_as}"
                yield Violation("S17", request.at, text)
