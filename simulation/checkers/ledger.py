"""S1, S2, S3 and S17 by the final content of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from drumbeat.model.jobs.job import Job
from drumbeat.model.schedules.plan import Outcome, TickRecord
from simulation.checkers.history_queries import jobs_of_ticks, written
from simulation.checkers.violation import Violation
from simulation.history import History
from simulation.process import GAP


def one_fire_per_tick(history: History) -> Iterator[Violation]:
    """S1: at most one job for each tick of each schedule."""
    for (schedule, tick), jobs in jobs_of_ticks(history).items():
        if len(jobs) > 1:
            ids = ", ".join(str(job.id) for job in jobs)
            yield Violation("S1", _when(history, jobs[-1]), f"{schedule} at {tick} has jobs {ids}")


def the_skipped_hour(history: History) -> Iterator[Violation]:
    """S2: a fixed time in the hour skipped by daylight saving ticks once, right after it."""
    change = datetime(2026, 3, 29, 1, tzinfo=history.start.tzinfo)
    if not history.start < change < history.wall(history.ended_at):
        return
    declared = [each for each in history.dump.schedules if each.name == GAP]
    if not declared or declared[0].created_at >= change:
        return  # it was not declared in time
    rows = [row.tick_at for row in history.dump.ledger.get(GAP, ())]
    if rows != [change]:
        yield Violation("S2", history.ended_at, f"{GAP} should have one tick, at {change}: {rows}")


def fired_means_a_job(history: History) -> Iterator[Violation]:
    """S3: a tick that fired has its job, and a job with a tick has its row."""
    jobs = {job.id: job for job in history.dump.jobs}
    rows = {
        row.job_id: row
        for rows in history.dump.ledger.values()
        for row in rows
        if row.outcome is Outcome.FIRED
    }
    for job_id, row in rows.items():
        if job_id not in jobs:
            yield Violation("S3", history.ended_at, f"{_shown(row)} fired and has no job")
    for job in jobs.values():
        if job.spec.tick_at is not None and job.id not in rows:
            yield Violation(
                "S3", _when(history, job), f"job {job.id} of {job.spec.schedule} has no row"
            )


def writes_are_whole(history: History) -> Iterator[Violation]:
    """S17: a write is in the store as a whole or not at all, even if its answer was lost."""
    yield from _whole_commits(history)
    batches = Counter(
        payload.split(".")[0]
        for job in history.dump.jobs
        if "batch" in (payload := job.spec.arguments.decode())
    )
    for batch, size in batches.items():
        if size % 3:
            yield Violation("S17", history.ended_at, f"{batch} has {size} jobs of 3")


def _whole_commits(history: History) -> Iterator[Violation]:
    fired: Counter[tuple[str, datetime]] = Counter()
    for commit in written(history):
        fired.update((commit.plan.name, fire.tick_at) for fire in commit.plan.fires)
    rows = Counter(
        (row.schedule, row.tick_at)
        for each in history.dump.ledger.values()
        for row in each
        if row.outcome is Outcome.FIRED
    )
    for name, tick in fired:
        if (name, tick) not in rows:
            yield Violation("S17", history.ended_at, f"{name} at {tick} was written and has no row")


def _when(history: History, job: Job) -> float:
    return (job.created_at - history.start).total_seconds()


def _shown(row: TickRecord) -> str:
    return f"{row.schedule} at {row.tick_at.isoformat()}"
