"""Ticks: S1 to S6, S9, S10 and S17. What became of every tick, by the store's own order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from drumbeat.model.job import Job
from drumbeat.model.lease import Epoch
from drumbeat.model.plan import Edit, Fire, Outcome, Skip, TickRecord
from drumbeat.model.schedule import Schedule, StoredSchedule
from drumbeat.rules.ticks import next_tick
from drumbeat.testing.simulation.checkers.reading import (
    Commit,
    changes,
    jobs_of_ticks,
    written,
)
from drumbeat.testing.simulation.checkers.violation import Violation
from drumbeat.testing.simulation.history import Applied, History
from drumbeat.testing.simulation.process import GAP

EARLY = timedelta(microseconds=1)


def one_fire_per_tick(history: History) -> Iterator[Violation]:
    """S1: at most one job for each tick of each schedule."""
    for (schedule, tick), jobs in jobs_of_ticks(history).items():
        if len(jobs) > 1:
            ids = ", ".join(str(job.id) for job in jobs)
            yield Violation("S1", _when(history, jobs[-1]), f"{schedule} at {tick} has jobs {ids}")


def no_tick_without_an_account(history: History) -> Iterator[Violation]:
    """S2: every tick up to the cursor fired once or was skipped for a reason, and nothing else."""
    standing: dict[str, StoredSchedule] = {}
    for said, change in changes(history):
        if isinstance(change, Edit):
            name, before, after = change.name, standing.get(change.name), change.after
            passed_to = after.cursor if after else history.wall(said.at)
            fires: tuple[Fire, ...] = ()
            skips = change.skips
        else:
            plan = change.plan
            name, before = plan.name, standing.get(plan.name)
            after = _advanced(before, plan.cursor)
            passed_to, fires, skips = plan.cursor, plan.fires, plan.skips
        if before is not None:
            due = _ticks(before.schedule, before.cursor, passed_to)
            if change_is_removal := after is None:
                due = [tick for tick in due if tick <= passed_to - timedelta(seconds=5)]
            wrong = _unaccounted(due, fires, skips, before.schedule, lenient=change_is_removal)
            if wrong:
                yield Violation("S2", said.at, f"{said.by} on {name}: {wrong}")
        if after is None:
            standing.pop(name, None)
        else:
            standing[name] = after
    yield from _the_hour_left_out(history)


def _the_hour_left_out(history: History) -> Iterator[Violation]:
    """A fixed time in the hour that the clocks leave out comes once, right after it."""
    change = datetime(2026, 3, 29, 1, tzinfo=history.start.tzinfo)
    if not history.start < change < history.wall(history.ended_at):
        return
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
            yield Violation("S3", history.ended_at, f"{_shown(row)} fired, and has no job")
    for job in jobs.values():
        if job.spec.tick_at is not None and job.id not in rows:
            yield Violation(
                "S3", _when(history, job), f"job {job.id} of {job.spec.schedule} has no row"
            )


def the_cursor_only_rises(history: History) -> Iterator[Violation]:
    """S4: no plan and no edit moves a cursor back."""
    cursors: dict[str, datetime] = {}
    for said, change in changes(history):
        if isinstance(change, Edit):
            name, cursor = change.name, change.after.cursor if change.after else None
        else:
            name, cursor = change.plan.name, change.plan.cursor
        if cursor is None:
            cursors.pop(name, None)
            continue
        if name in cursors and cursor < cursors[name]:
            yield Violation("S4", said.at, f"{said.by} moved {name} back to {cursor}")
        cursors[name] = cursor


def epochs_never_fall(history: History) -> Iterator[Violation]:
    """S5: in the order of writing, the epochs in the ledger never fall."""
    highest = 0
    for commit in written(history):
        if commit.epoch < highest:
            yield Violation(
                "S5", commit.said.at, f"{commit.said.by} wrote at {commit.epoch} after {highest}"
            )
        highest = max(highest, commit.epoch)


def no_write_below_the_fence(history: History) -> Iterator[Violation]:
    """S6: what a leader wrote, it wrote at the epoch that held the fence."""
    fence = 0
    for said in history.calls("claim", "commit"):
        if said.call == "claim":
            if isinstance(said.answer, Epoch):
                fence = said.answer.number
        elif said.error is None:
            epoch = said.arguments[1]
            assert isinstance(epoch, Epoch)
            if epoch.number != fence:
                yield Violation(
                    "S6", said.at, f"{said.by} wrote at epoch {epoch.number}, the fence is {fence}"
                )


def nothing_fires_early(history: History) -> Iterator[Violation]:
    """S9: no tick fires before its time, whatever the clock of one machine says."""
    for commit in written(history):
        for fire in commit.plan.fires:
            early = fire.tick_at - history.wall(commit.said.at)
            if early > EARLY:
                seconds = early.total_seconds()
                yield Violation(
                    "S9",
                    commit.said.at,
                    f"{commit.said.by} fired {commit.plan.name} {seconds:g} s early",
                )


def nothing_fires_while_paused(history: History) -> Iterator[Violation]:
    """S10: once a pause or a removal is written, no tick of before fires any more."""
    silent: dict[str, Applied] = {}
    for said, change in changes(history):
        if isinstance(change, Edit):
            silent.pop(change.name, None)
            if change.after is None or change.after.paused:
                silent[change.name] = said
        elif change.plan.fires and change.plan.name in silent:
            since = silent[change.plan.name].at
            yield Violation(
                "S10", said.at, f"{said.by} fired {change.plan.name}, silent since {since:.3f} s"
            )


def writes_are_whole(history: History) -> Iterator[Violation]:
    """S17: what was written is in the store as a whole, also if the answer got lost."""
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
            yield Violation("S17", history.ended_at, f"{name} at {tick} was written, with no row")


def _advanced(before: StoredSchedule | None, cursor: datetime) -> StoredSchedule | None:
    if before is None:
        return None
    return StoredSchedule(
        before.schedule, before.version, cursor, None, before.created_at, before.updated_at
    )


def _ticks(schedule: Schedule, after: datetime, to: datetime) -> list[datetime]:
    ticks: list[datetime] = []
    tick = next_tick(schedule, after)
    while tick is not None and tick <= to:
        ticks.append(tick)
        tick = next_tick(schedule, tick)
    return ticks


def _unaccounted(
    due: list[datetime],
    fires: tuple[Fire, ...],
    skips: tuple[Skip, ...],
    schedule: Schedule,
    *,
    lenient: bool,
) -> str:
    """What is wrong with the account of these ticks; empty if nothing is."""
    accounted = Counter(fire.tick_at for fire in fires)
    for skip in skips:
        run = [skip.tick_at, *_ticks(schedule, skip.tick_at, skip.through)]
        accounted.update(run)
        if len(run) != skip.count:
            return f"a run of {skip.count} skipped ticks holds {len(run)}"
    missing = [tick for tick in due if not accounted[tick]]
    doubled = [tick for tick, times in accounted.items() if times > 1]
    invented = [] if lenient else [tick for tick in accounted if tick not in due]
    wrong = [("lost", missing), ("accounted for twice", doubled), ("never due", invented)]
    return "; ".join(
        f"{', '.join(tick.isoformat() for tick in ticks)} {what}" for what, ticks in wrong if ticks
    )


def _when(history: History, job: Job) -> float:
    return (job.created_at - history.start).total_seconds()


def _shown(row: TickRecord) -> str:
    return f"{row.schedule} at {row.tick_at.isoformat()}"


__all__ = [
    "Commit",
    "epochs_never_fall",
    "fired_means_a_job",
    "no_tick_without_an_account",
    "no_write_below_the_fence",
    "nothing_fires_early",
    "nothing_fires_while_paused",
    "one_fire_per_tick",
    "the_cursor_only_rises",
    "writes_are_whole",
]
