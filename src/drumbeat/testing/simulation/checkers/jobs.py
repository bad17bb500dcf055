"""Jobs: S11 to S16. What became of every job, by the store's own order and by what handlers saw."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import cast

from drumbeat.model.ids import JobId
from drumbeat.model.job import (
    FINAL,
    Cancelled,
    Change,
    Inserted,
    Job,
    Settled,
    Status,
    Taken,
)
from drumbeat.testing.simulation.checkers.reading import settlements
from drumbeat.testing.simulation.checkers.violation import Violation
from drumbeat.testing.simulation.history import Applied, History

WAITING = "waiting"
RUNNING = "running"
FINISHED = "finished"


class _Lives:
    """A second opinion on every job: where it stands, by the answers that the store gave."""

    def __init__(self) -> None:
        self._standing: dict[JobId, str] = {}
        self._fences: dict[JobId, int] = {}
        self.wrong: list[Violation] = []

    def claim(self, said: Applied, job_id: JobId, fence: int) -> None:
        standing = self._standing.get(job_id, WAITING)
        if standing == RUNNING:
            self._break("S14", said, f"{said.by} claimed job {job_id} while it was held")
        elif standing == FINISHED:
            self._break("S11", said, f"{said.by} claimed job {job_id}, which was finished")
        if fence <= self._fences.get(job_id, 0):
            self._break("S12", said, f"the fence of job {job_id} did not rise: {fence}")
        self._standing[job_id], self._fences[job_id] = RUNNING, fence

    def settle(self, said: Applied, settled: Settled) -> None:
        job_id, fence = settled.hold.job_id, settled.hold.fence
        if self._standing.get(job_id) != RUNNING:
            what = (
                f"{said.by} settled job {job_id}, which was {self._standing.get(job_id, WAITING)}"
            )
            self._break("S11", said, what)
        if fence != self._fences.get(job_id):
            held = self._fences.get(job_id)
            what = f"{said.by} settled job {job_id} by fence {fence}; it is held by {held}"
            self._break("S12", said, what)
        self._standing[job_id] = FINISHED if settled.status in FINAL else WAITING

    def cancel(self, said: Applied, job_id: JobId) -> None:
        if self._standing.get(job_id, WAITING) != WAITING:
            self._break("S11", said, f"job {job_id} was cancelled while {self._standing[job_id]}")
        self._standing[job_id] = FINISHED

    def _break(self, invariant: str, said: Applied, text: str) -> None:
        self.wrong.append(Violation(invariant, said.at, text))


def only_legal_changes(history: History) -> Iterator[Violation]:
    """S11, S12, S14: changes of status are legal, and a hold that is over changes nothing."""
    lives = _Lives()
    for said in history.calls("take", "settle", "cancel"):
        if said.error is not None:
            continue
        if isinstance(said.answer, Taken):
            _take(lives, said, said.answer)
            continue
        for verdict in cast("tuple[object, ...]", said.answer):
            if isinstance(verdict, Settled):
                lives.settle(said, verdict)
            elif isinstance(verdict, Cancelled):
                lives.cancel(said, verdict.job_id)
    yield from lives.wrong


def _take(lives: _Lives, said: Applied, taken: Taken) -> None:
    for verdict in taken.verdicts:
        if isinstance(verdict, Settled):
            lives.settle(said, verdict)
    for job_id in taken.cancelled:
        lives.cancel(said, job_id)
    for attempt in taken.attempts:
        lives.claim(said, attempt.job_id, attempt.hold.fence)


def completed_at_most_once(history: History) -> Iterator[Violation]:
    """S12: a job completes once, by the last claim of it."""
    completed: dict[JobId, Applied] = {}
    for said, settlement, verdict in settlements(history):
        if isinstance(verdict, Settled) and verdict.status is Status.COMPLETED:
            job_id = settlement.hold.job_id
            if job_id in completed:
                first = completed[job_id]
                text = f"job {job_id} completed by {first.by}, and again by {said.by}"
                yield Violation("S12", said.at, text)
            completed[job_id] = said
    fences = {job.id: job.fence for job in history.dump.jobs}
    for said, settlement, verdict in settlements(history):
        hold = settlement.hold
        accepted = isinstance(verdict, Settled) and verdict.status is Status.COMPLETED
        if accepted and hold.fence != fences.get(hold.job_id):
            text = f"job {hold.job_id} was completed by claim {hold.fence}, and claimed again"
            yield Violation("S12", said.at, text)


def no_submission_is_lost(history: History) -> Iterator[Violation]:
    """S13: a submission that was acknowledged ends in a final status."""
    jobs = {job.id: job for job in history.dump.jobs}
    for each in history.acknowledged:
        if each.what != "submitted":
            continue
        job_id, payload = cast("tuple[JobId, str]", each.subject)
        job = jobs.get(job_id)
        if job is None or job.status not in FINAL:
            stands = f"is {job.status}" if job else "does not exist"
            yield Violation(
                "S13", each.at, f"job {job_id} ({payload}) was acknowledged, and {stands}"
            )


def no_two_handlers_at_once(history: History) -> Iterator[Violation]:
    """S14: no handler starts while another of the same job runs, in a process that goes on."""
    if "clock drift" in history.kinds:
        return  # a machine that counts wrongly cannot know when it has to stop
    for ran in history.ran:
        if ran.rivals:
            rivals = ", ".join(ran.rivals)
            text = f"{ran.by} started job {ran.hold.job_id} while it ran on {rivals}"
            yield Violation("S14", ran.at, text)


def attempts_are_bounded(history: History) -> Iterator[Violation]:
    """S15: no more attempts are counted, or fail, than the job allows."""
    spent: Counter[JobId] = Counter()
    for _, settlement, verdict in settlements(history):
        if isinstance(verdict, Settled) and settlement.change in (Change.RETRY, Change.FAIL):
            spent[settlement.hold.job_id] += 1
    for job in history.dump.jobs:
        most = job.spec.retry.max_attempts
        if job.attempt > most or spent[job.id] > most:
            text = f"job {job.id} had {max(job.attempt, spent[job.id])} attempts of {most}"
            yield Violation("S15", history.ended_at, text)


def payloads_are_kept(history: History) -> Iterator[Violation]:
    """S16: a handler gets what was submitted, and its result is what it returned."""
    jobs = {job.id: job for job in history.dump.jobs}
    for ran in history.ran:
        job = jobs.get(ran.hold.job_id)
        if ran.what == "started" and (job is None or _payload(job) != ran.payload):
            text = f"{ran.by} ran job {ran.hold.job_id} with {ran.payload!r}, which is not its own"
            yield Violation("S16", ran.at, text)
    for job in jobs.values():
        if job.status is Status.COMPLETED and json.loads(job.result or b"null") != _payload(job):
            yield Violation("S16", history.ended_at, f"the result of job {job.id} is not its own")
    for said in history.calls("insert"):
        yield from _kept(said, jobs)


def _kept(said: Applied, jobs: dict[JobId, Job]) -> Iterator[Violation]:
    for verdict in cast("tuple[object, ...]", said.answer or ()):
        if isinstance(verdict, Inserted):
            job = jobs.get(verdict.job.id)
            if job is None or job.spec != verdict.job.spec:
                yield Violation("S16", said.at, f"job {verdict.job.id} is not as it was submitted")


def _payload(job: Job) -> object:
    return json.loads(job.spec.arguments)["payload"]
