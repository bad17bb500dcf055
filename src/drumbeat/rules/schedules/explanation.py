"""Explanations of why a schedule did or did not run, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from drumbeat.model.fleet.node import Node, NodeRecord
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Job, OnConflict, Status
from drumbeat.model.jobs.queue import PausedQueue
from drumbeat.model.schedules.plan import Outcome, SkipReason, TickRecord
from drumbeat.model.schedules.policy import Misfire, Overlap, RunOn
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.model.text import counted, last_line
from drumbeat.rules.human_time import Moments, short
from drumbeat.rules.jobs.waiting import why_not_started, workers_of
from drumbeat.rules.schedules.overdue import PATIENCE, overdue

REASONS = {
    SkipReason.COALESCED: "no leader handled it in time, and a later tick fired instead",
    SkipReason.OVERLAP: "the job of the tick before was still unfinished",
    SkipReason.PAUSED: "the schedule was paused",
    SkipReason.EXCLUDED: "a calendar excludes it",
    SkipReason.MISSED_WINDOW: "no leader handled it until it was too late to fire",
    SkipReason.CAP: "too many ticks were missed at once; only the later ones fired",
    SkipReason.OVERRIDDEN: "a person skipped it, or edited the schedule before a leader handled it",
    SkipReason.TOO_EXPENSIVE: (
        "it was missed, and the later ticks took too many steps to find; exclude less"
    ),
    SkipReason.UNKNOWN_TASK: (
        "the leader did not know its task, and many jobs of the schedule were waiting for a node "
        "that knows it"
    ),
    SkipReason.ELSEWHERE: "another instance led and handled it",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts about a schedule at one moment."""

    stored: StoredSchedule
    as_of: datetime
    ticks: Sequence[TickRecord]
    """The last rows of its ledger, latest first."""
    next: Sequence[datetime]
    previous: Job | None
    """The job of its last tick that fired."""
    leader: NodeId | None
    nodes: Sequence[NodeRecord]
    """The live nodes."""
    jobs: Mapping[JobId, Job]
    """The jobs of these ticks, as far as they are kept."""
    paused_queue: PausedQueue | None = None
    """Why no job of its queue is started; None: they are."""

    @property
    def workers(self) -> Sequence[Node]:
        return workers_of(self.stored.schedule.job.queue, (each.node for each in self.nodes))

    def job_of(self, tick: TickRecord) -> Job | None:
        return None if tick.job_id is None else self.jobs.get(tick.job_id)


def explain_schedule(evidence: Evidence, moments: Moments) -> list[str]:
    """The state of the schedule, and what may prevent it from running."""
    stored = evidence.stored
    when = stored.schedule.trigger.describe()
    sentences = [f"{stored.name} runs {stored.schedule.task}: {when[:1].lower()}{when[1:]}."]
    sentences.append(_next_tick(evidence, moments))
    sentences += _fleet(evidence)
    sentences += _last_job(evidence, moments)
    sentences += _policies(evidence)
    return sentences


def _next_tick(evidence: Evidence, moments: Moments) -> str:
    stored = evidence.stored
    if stored.paused:
        reason = f" ({stored.pause_reason})" if stored.pause_reason else ""
        since = moments.named(stored.updated_at)
        return f"It is paused{reason}, last changed {since}: its ticks are skipped until resumed."
    if stored.next_tick is None:
        limit = stored.schedule.policies.max_runs
        if limit is not None and stored.runs >= limit:
            return f"It has ended: all of its {limit} runs are done."
        return "It has ended: there is no further tick."
    late = overdue(stored.next_tick, evidence.as_of, paused=False)
    if late is not None:
        return f"Its tick of {moments.named(stored.next_tick)} is overdue by {short(late)}."
    if stored.next_tick in stored.skips:
        return f"Its next tick, {moments.stamped(stored.next_tick)}, is skipped by hand."
    return f"Its next tick is {moments.stamped(stored.next_tick)}."


def _fleet(evidence: Evidence) -> list[str]:
    sentences: list[str] = []
    if evidence.leader is None:
        sentences.append("Nobody leads, so no tick fires: start a node with the role scheduler.")
    queue, paused = evidence.stored.schedule.job.queue, evidence.paused_queue
    if paused is not None:
        reason = f" ({paused.reason})" if paused.reason else ""
        sentences.append(f"The queue {queue!r} is paused{reason}, so its jobs wait.")
    if evidence.stored.schedule.policies.run_on is RunOn.WORKER and not evidence.workers:
        sentences.append(f"No live worker serves the queue {queue!r}, so its jobs wait.")
    return sentences


def _last_job(evidence: Evidence, moments: Moments) -> list[str]:
    stored, job = evidence.stored, evidence.previous
    if stored.last_job is None:
        return ["It has never fired."]
    if job is None:
        return [f"Its last job, {stored.last_job}, is no longer kept."]
    if not job.status.final:
        wait = " and the next tick will be skipped until it ends"
        held = stored.schedule.policies.overlap is Overlap.SKIP
        says = f"Its last job, {job.id}, is {job.status}{wait if held else ''}."
        return [says, *_waiting(evidence, job)]
    if job.has_expired:
        when = moments.distance(job.finished_at)
        return [f"Its last job, {job.id}, expired {when}: no worker started it in time."]
    if job.was_skipped:
        when = moments.distance(job.finished_at)
        return [f"Its last job, {job.id}, was skipped {when}: its limit was reached."]
    ended = f"Its last job, {job.id}, {job.status} {moments.distance(job.finished_at)}"
    if job.status is Status.FAILED and job.error:
        return [f"{ended}: {last_line(job.error)}"]
    return [f"{ended}."]


def _waiting(evidence: Evidence, job: Job) -> list[str]:
    """Why a job has waited for long, if nothing else explains it."""
    waited = evidence.as_of - job.run_at
    workers = evidence.workers
    if (
        job.status is not Status.QUEUED
        or waited <= PATIENCE
        or evidence.paused_queue
        or not workers
    ):
        return []
    return [f"It has waited for {short(waited)}: {why_not_started(job.task, workers)}."]


def _policies(evidence: Evidence) -> list[str]:
    policies = evidence.stored.schedule.policies
    missed = {
        Misfire.LATEST: f"only the latest fires, at most {short(policies.window)} late",
        Misfire.ALL: f"each fires, at most {short(policies.window)} late",
        Misfire.SKIP: "none fires",
    }[policies.misfire]
    sentences = [f"Of missed ticks {missed}."]
    if policies.max_runs is not None:
        runs = counted(evidence.stored.runs, "time")
        sentences.append(f"It has fired {runs} of at most {policies.max_runs}.")
    if evidence.stored.skips:
        skips = len(evidence.stored.skips)
        sentences.append(
            f"{counted(skips, 'tick')} to come {'is' if skips == 1 else 'are'} skipped by hand."
        )
    return sentences


def explain_tick(tick: TickRecord, moments: Moments, job: Job | None = None) -> str:
    """The outcome of a tick, or of several ticks that were skipped together."""
    if tick.outcome is Outcome.FIRED:
        how = "backfilled by hand" if tick.backfilled else f"fired {short(tick.lateness)} late"
        by = f", epoch {tick.epoch}" if tick.epoch is not None else ""
        return f"{how} as job {tick.job_id}{by}{_ended_badly(job)}"
    reason = REASONS[tick.reason] if tick.reason else "no reason was recorded"
    if tick.count == 1:
        return f"skipped: {reason}"
    through = moments.named(tick.through)
    return f"{tick.count:,} ticks through {through} skipped, each because {reason}"


def _ended_badly(job: Job | None) -> str:
    """Why the job of a tick failed or was cancelled, if it did."""
    if job is None or job.status not in (Status.CANCELLED, Status.FAILED):
        return ""
    if job.has_expired:
        return "; the job expired: no worker started it in time"
    names = [each.key for each in job.spec.limits if each.on_conflict is not OnConflict.WAIT]
    if job.was_skipped:
        return f"; the job was skipped: its limit was reached ({', '.join(names)})"
    verb = "was cancelled" if job.status is Status.CANCELLED else "failed"
    why = f": {last_line(job.error)}" if job.error else ""
    refused = job.status is Status.CANCELLED and job.attempt == 0 and names
    return f"; the job {verb}{why}" + (f" ({', '.join(names)})" if refused else "")
