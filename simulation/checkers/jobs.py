"""S11 to S16, S20 to S22: the fate of jobs, by the answers of the store and by their handlers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    FINAL,
    Cancelled,
    Change,
    ExpiredJobs,
    Hold,
    Inserted,
    Job,
    Settled,
    Status,
    Taken,
)
from simulation.checkers.history_queries import settled_by, settlements
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher, Watcher
from simulation.history import ExecutedRequest, HandlerStep, History

WAITING = "waiting"
RUNNING = "running"
FINISHED = "finished"


class OnlyLegalChanges(ServerWatcher):
    """S11, S12, S14: changes of status are legal, and an old hold changes nothing.

    It follows the status of every job independently, by the answers of the store.
    """

    calls = frozenset({"take", "settle", "reap", "cancel", "expire"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._statuses: dict[JobId, str] = {}
        self._fences: dict[JobId, int] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        if step.error is not None:
            return
        match step.answer:
            case Taken() as taken:
                yield from self._ended(step, taken.verdicts)
                yield from self._ended(step, map(Cancelled, (*taken.cancelled, *taken.expired)))
                for attempt in taken.attempts:
                    yield from self._claim(step, attempt.job_id, attempt.hold.fence)
            case ExpiredJobs(job_ids):
                yield from self._ended(step, map(Cancelled, job_ids))
            case answer:
                yield from self._ended(step, cast("tuple[object, ...]", answer))

    def _ended(self, step: ExecutedRequest, verdicts: Iterable[object]) -> Iterator[Violation]:
        for each in verdicts:
            if isinstance(each, Settled):
                yield from self._settle(step, each)
            elif isinstance(each, Cancelled):
                yield from self._cancel(step, each.job_id)

    def _claim(self, request: ExecutedRequest, job_id: JobId, fence: int) -> Iterator[Violation]:
        status_before = self._statuses.get(job_id, WAITING)
        if status_before == RUNNING:
            yield Violation(
                "S14", request.at, f"{request.by} claimed job {job_id} while it was held"
            )
        elif status_before == FINISHED:
            text = f"{request.by} claimed job {job_id}, which was finished"
            yield Violation("S11", request.at, text)
        if fence <= self._fences.get(job_id, 0):
            yield Violation("S12", request.at, f"the fence of job {job_id} did not rise: {fence}")
        self._statuses[job_id], self._fences[job_id] = RUNNING, fence

    def _settle(self, request: ExecutedRequest, settled: Settled) -> Iterator[Violation]:
        job_id, fence = settled.hold.job_id, settled.hold.fence
        status_before, held = self._statuses.get(job_id, WAITING), self._fences.get(job_id)
        if status_before != RUNNING:
            yield Violation(
                "S11", request.at, f"{request.by} settled job {job_id}, which was {status_before}"
            )
        if fence != held:
            text = f"{request.by} settled job {job_id} by fence {fence}; it is held by {held}"
            yield Violation("S12", request.at, text)
        self._statuses[job_id] = FINISHED if settled.status in FINAL else WAITING

    def _cancel(self, request: ExecutedRequest, job_id: JobId) -> Iterator[Violation]:
        status_before = self._statuses.get(job_id, WAITING)
        if status_before != WAITING:
            yield Violation("S11", request.at, f"job {job_id} was cancelled while {status_before}")
        self._statuses[job_id] = FINISHED


class CompletedAtMostOnce(ServerWatcher):
    """S12: a job completes once, and is never claimed again."""

    calls = frozenset({"take", "settle", "reap"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._completed: dict[JobId, ExecutedRequest] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        for settlement, verdict in settled_by(step):
            if isinstance(verdict, Settled) and verdict.status is Status.COMPLETED:
                job_id = settlement.hold.job_id
                if job_id in self._completed:
                    first = self._completed[job_id].by
                    text = f"job {job_id} completed by {first}, and again by {step.by}"
                    yield Violation("S12", step.at, text)
                self._completed[job_id] = step
        if isinstance(step.answer, Taken):
            for attempt in step.answer.attempts:
                if attempt.job_id in self._completed:
                    first = self._completed[attempt.job_id].by
                    text = f"job {attempt.job_id}, completed by {first}, was claimed by {step.by}"
                    yield Violation("S12", step.at, text)


class NothingStartsOnceExpired(ServerWatcher):
    """S22: no claim starts a job that has expired by the clock of the store."""

    calls = frozenset({"take"})

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        if isinstance(step.answer, Taken):
            for attempt in step.answer.attempts:
                expires_at = attempt.spec.expires_at(attempt.created_at)
                if expires_at is not None and expires_at <= attempt.started_at:
                    late = attempt.started_at - expires_at
                    text = f"{step.by} claimed job {attempt.job_id}, which had expired {late} ago"
                    yield Violation("S22", step.at, text)


class NoTwoHandlersAtOnce(Watcher[HandlerStep]):
    """S14: no handler starts while another of the same job runs in a live process."""

    def see(self, step: HandlerStep) -> Iterator[Violation]:
        if step.rivals and not _cannot_know(self.history):
            rivals = ", ".join(step.rivals)
            text = f"{step.by} started job {step.hold.job_id} while it ran on {rivals}"
            yield Violation("S14", step.at, text)


CUTS = frozenset({"loss", "delay", "partition", "one-way partition", "store outage"})


def _cannot_know(history: History) -> bool:
    """Whether a process cannot know when it has to stop.

    Its clock may have a wrong rate, or the store may lie about it. A process that is cut off from
    the store in the same moment as the session of its witness cannot show that it lives.
    """
    kinds = history.kinds
    return bool({"clock drift", "lying witness"} & kinds) or (
        "witness cut" in kinds and bool(CUTS & kinds)
    )


class NothingStartsWhileDraining(Watcher[HandlerStep]):
    """S20: a node that drains starts no handler any more."""

    def see(self, step: HandlerStep) -> Iterator[Violation]:
        since = self.history.draining.get(step.by)
        if step.what == "started" and since is not None and since < step.at:
            text = f"{step.by} started job {step.hold.job_id}; it has drained since {since:.3f} s"
            yield Violation("S20", step.at, text)


class EndingsOfAStopAreKept(ServerWatcher):
    """S21: a handler that gave up because its node stops spends nothing and completes nothing.

    One that has finished all the same is not given back.
    """

    calls = frozenset({"take", "settle"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._looked_at = 0
        self._ended: dict[tuple[str, Hold], HandlerStep] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        steps = self.history.handler_steps
        for each in steps[self._looked_at :]:
            self._ended[each.by, each.hold] = each
        self._looked_at = len(steps)
        for settlement, _ in settled_by(step):
            ended = self._ended.get((step.by, settlement.hold))
            if ended is None:
                continue
            change, error = settlement.change, settlement.error or ""
            gave_up = ended.what.startswith("gave up")
            if (gave_up and (change is Change.COMPLETE or "gave up" in error)) or (
                ended.what == "finished" and change is Change.GIVE_BACK
            ):
                text = f"{step.by} {ended.what} with job {settlement.hold.job_id}: {change}"
                yield Violation("S21", step.at, f"{text}, as its node stopped")


def no_submission_is_lost(history: History) -> Iterator[Violation]:
    """S13: a submission that was acknowledged ends in a final status."""
    jobs = {job.id: job for job in history.dump.jobs}
    for each in history.acknowledged:
        if each.what != "submitted":
            continue
        job_id, payload = cast("tuple[JobId, str]", each.subject)
        job = jobs.get(job_id)
        if job is None or job.status not in FINAL:
            state = f"is {job.status}" if job else "does not exist"
            yield Violation(
                "S13", each.at, f"job {job_id} ({payload}) was acknowledged, and {state}"
            )


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
    for step in history.handler_steps:
        job = jobs.get(step.hold.job_id)
        if step.what == "started" and (job is None or _payload(job) != step.payload):
            text = f"{step.by} ran job {step.hold.job_id} with another's {step.payload!r}"
            yield Violation("S16", step.at, text)
    for job in jobs.values():
        if job.status is Status.COMPLETED and json.loads(job.result or b"null") != _payload(job):
            yield Violation("S16", history.ended_at, f"the result of job {job.id} is not its own")
    for request in history.calls("insert"):
        yield from _kept(request, jobs)


def _kept(request: ExecutedRequest, jobs: dict[JobId, Job]) -> Iterator[Violation]:
    for verdict in cast("tuple[object, ...]", request.answer or ()):
        if isinstance(verdict, Inserted):
            job = jobs.get(verdict.job.id)
            if job is None or job.spec != verdict.job.spec:
                yield Violation(
                    "S16", request.at, f"job {verdict.job.id} is not as it was submitted"
                )


def _payload(job: Job) -> object:
    return json.loads(job.spec.arguments)["payload"]
