"""The checks: each promise is a pure function over the history of a run.

They follow Jepsen's test of Chronos, but are stricter: ticks and fires must match one to one, so an
extra fire is as wrong as a missing one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from chaos.beliefs import clashes
from chaos.failovers import failovers, promised
from chaos.history import Fire, History, Kind, Term
from drumbeat.demo.proof import Tick, TickBalance, balance
from drumbeat.model.jobs.job import Status

CLOCK_ERROR = 0.1
"""Seconds by which the clocks of the store and of the machine may differ."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise."""

    check: str
    at: float
    """In seconds of the run; its end if the violation has no instant."""
    text: str


Check = Callable[[History], Iterator[Violation]]


def balance_of(history: History) -> TickBalance:
    """The ticks that were due, that fired and that were run."""
    return balance(
        ((name, tick) for name, ticks in history.due.items() for tick in ticks),
        ((fire.schedule, fire.tick_at) for fire in history.ledger),
        ((run.what, run.tick_at) for run in history.runs if run.tick_at is not None),
    )


def no_tick_is_lost(history: History) -> Iterator[Violation]:
    """Every due tick fires, and a handler runs for it."""
    found = balance_of(history)
    for tick in found.lost:
        yield _of_tick(history, "no tick is lost", tick, "was due and never fired")
    for tick in found.not_run:
        yield _of_tick(history, "no tick is lost", tick, "fired, and no handler ran for it")


def no_tick_is_doubled(history: History) -> Iterator[Violation]:
    """No tick fires twice, no tick fires that is not due, and none has two jobs."""
    found = balance_of(history)
    for tick in found.doubled:
        yield _of_tick(history, "no tick is doubled", tick, "fired twice")
    for tick in found.unasked:
        yield _of_tick(history, "no tick is doubled", tick, "fired and was not due")
    jobs = Counter(
        (job.schedule, job.tick_at)
        for job in history.jobs
        if job.schedule is not None and job.tick_at is not None
    )
    for tick, count in jobs.items():
        if count > 1:
            yield _of_tick(history, "no tick is doubled", tick, f"has {count} jobs")


def no_tick_is_early(history: History) -> Iterator[Violation]:
    """Nothing fires and no handler runs before its time, whatever one clock says."""
    for fire in history.ledger:
        if fire.recorded_at < fire.tick_at:
            what = f"fired {-fire.lateness:.3f} s early, by {fire.leader}"
            yield _of_tick(history, "no tick is early", (fire.schedule, fire.tick_at), what)
    for run in history.runs:
        if run.tick_at and run.at < history.second(run.tick_at) - CLOCK_ERROR:
            early = history.second(run.tick_at) - run.at
            text = f"the tick of {run.what} at {run.tick_at} was run {early:.3f} s early"
            yield Violation("no tick is early", run.at, f"{text}, on {run.node}")


def fired_means_a_job(history: History) -> Iterator[Violation]:
    """A tick that fired has its job, and a job of a tick has its row."""
    jobs = {job.id: (job.schedule, job.tick_at) for job in history.jobs if job.schedule}
    rows = {fire.job_id: fire for fire in history.ledger}
    for fire in history.ledger:
        if jobs.get(fire.job_id) != (fire.schedule, fire.tick_at):
            what = f"names job {fire.job_id}, which does not exist or belongs to another tick"
            yield _of_tick(history, "fired means a job", (fire.schedule, fire.tick_at), what)
    for job_id in jobs.keys() - rows.keys():
        text = f"job {job_id} of {jobs[job_id]} has no row in the ledger"
        yield Violation("fired means a job", history.seconds, text)


def completed_at_most_once(history: History) -> Iterator[Violation]:
    """At most one completion of a job is accepted, by its last claim."""
    accepted: dict[int, list[int]] = defaultdict(list)
    fences = {job.id: job.fence for job in history.jobs}
    for ending in history.endings:
        if ending.status is not Status.COMPLETED:
            continue
        accepted[ending.job_id].append(ending.fence)
        if len(accepted[ending.job_id]) > 1:
            text = f"job {ending.job_id} was completed by claims {accepted[ending.job_id]}"
            yield Violation("completed at most once", ending.at, f"{text}, last on {ending.node}")
        elif ending.fence != fences.get(ending.job_id):
            text = f"job {ending.job_id} was completed by claim {ending.fence}, and the store has"
            yield Violation(
                "completed at most once", ending.at, f"{text} {fences.get(ending.job_id)}"
            )


def no_submission_is_lost(history: History) -> Iterator[Violation]:
    """A job whose submission was acknowledged was run, and is completed."""
    jobs = {job.id: job for job in history.jobs}
    ran = {run.what for run in history.runs}
    for number, job_id in history.submissions.acknowledged.items():
        job = jobs.get(job_id)
        if job is None or job.number != number:
            text = f"job {job_id} (number {number}) was acknowledged and does not exist"
        elif job.status is not Status.COMPLETED:
            text = f"job {job_id} (number {number}) was acknowledged and is {job.status}"
        elif f"job-{number}" not in ran:
            text = f"job {job_id} (number {number}) is completed, and no handler ran for it"
        else:
            continue
        yield Violation("no submission is lost", history.seconds, text)


def batches_are_whole(history: History) -> Iterator[Violation]:
    """A submission whose answer was lost exists as a whole or not at all, and only once."""
    numbers = Counter(job.number for job in history.jobs if job.number is not None)
    for batch in history.submissions.unsure:
        there = sorted(batch & numbers.keys())
        if there and len(there) < len(batch):
            text = f"of the jobs {sorted(batch)}, submitted together, only {there} exist"
            yield Violation("batches are whole", history.seconds, text)
    for number, count in numbers.items():
        if count > 1:
            text = f"number {number} was submitted once and has {count} jobs"
            yield Violation("batches are whole", history.seconds, text)


def epochs_never_fall(history: History) -> Iterator[Violation]:
    """In the order of commits, the epochs of the ledger never fall.

    Within a schedule that is the order of its ticks, because each commit moves the cursor. Over all
    schedules it is the order of the recorded instants.
    """
    in_order = sorted(history.ledger, key=lambda fire: fire.recorded_at)
    yield from _falls(history, in_order, "over all schedules")
    by_schedule: dict[str, list[Fire]] = defaultdict(list)
    for fire in sorted(history.ledger, key=lambda fire: fire.tick_at):
        by_schedule[fire.schedule].append(fire)
    for name, fires in by_schedule.items():
        yield from _falls(history, fires, f"in {name}")


def _falls(history: History, fires: list[Fire], where: str) -> Iterator[Violation]:
    for before, after in pairwise(fires):
        if after.epoch < before.epoch:
            text = (
                f"{where}, epoch {after.epoch} ({after.leader}) fired {after.tick_at} "
                f"after epoch {before.epoch} ({before.leader}) had fired {before.tick_at}"
            )
            yield Violation("epochs never fall", history.second(after.recorded_at), text)


def an_epoch_has_one_leader(history: History) -> Iterator[Violation]:
    """Everything written in an epoch was written by the node to which the store gave it."""
    leaders = {gain.epoch: gain.identity for gain in history.gains}
    for gain in history.gains:
        if leaders[gain.epoch] != gain.identity:
            text = f"epoch {gain.epoch} was given to {gain.identity} and to {leaders[gain.epoch]}"
            yield Violation("an epoch has one leader", gain.at, text)
    for fire in history.ledger:
        holder = leaders.setdefault(fire.epoch, fire.leader)
        if holder != fire.leader:
            text = f"{fire.leader} fired {fire.tick_at} in epoch {fire.epoch}, which is {holder}'s"
            yield Violation("an epoch has one leader", history.second(fire.recorded_at), text)


def no_fire_by_a_deposed_leader(history: History) -> Iterator[Violation]:
    """Once an epoch is accepted, nothing is written in an earlier one."""
    gained = sorted(history.gains, key=lambda gain: gain.at)
    for fire in history.ledger:
        at = history.second(fire.recorded_at)
        for gain in gained:
            if gain.at >= at - CLOCK_ERROR:
                break
            if gain.epoch > fire.epoch:
                text = (
                    f"{fire.leader} fired {fire.tick_at} in epoch {fire.epoch}, {at - gain.at:.3f} "
                    f"s after {gain.identity} had epoch {gain.epoch}"
                )
                yield Violation("no fire by a deposed leader", at, text)
                break


def one_leader_at_a_time(history: History) -> Iterator[Violation]:
    """No two nodes consider themselves the leader at once.

    This is not checked while the coordinator recovers from a crash: it may have forgotten a lease
    and appoint another leader before the first one notices. Writes are still fenced.
    """
    for one, other in clashes(history.terms):
        if not _coordinator_forgot(history, one, other):
            both = min(one.until, other.until) - max(one.since, other.since)
            text = (
                f"{one.node} in epoch {one.epoch} and {other.node} in epoch {other.epoch} "
                f"both considered themselves the leader, for {both:.3f} s"
            )
            yield Violation("one leader at a time", max(one.since, other.since), text)


def _coordinator_forgot(history: History, one: Term, other: Term) -> bool:
    since, until = max(one.since, other.since), min(one.until, other.until)
    return any(
        fault.kind in (Kind.RESTART, Kind.EMPTY)
        and fault.target == history.forgetful
        and since < fault.until + history.longest_term
        and until > fault.since
        for fault in history.faults
    )


def failover_is_quick(history: History) -> Iterator[Violation]:
    """Another node leads within the term of a dead leader and three seconds, or sooner."""
    for each in failovers(history):
        longest = promised(history, each)
        if each.seconds > longest:
            text = (
                f"after epoch {each.before.epoch} ({each.before.node}) nobody led for "
                f"{each.seconds:.1f} s, until {each.after.node} did; {longest:g} s are "
                "promised"
            )
            yield Violation("failover is quick", each.after.since, text)


def everything_settles(history: History) -> Iterator[Violation]:
    """After the healing all ticks are caught up and all jobs are finished."""
    for what in history.unsettled:
        yield Violation("everything settles", history.seconds, what)


def no_node_ends_by_itself(history: History) -> Iterator[Violation]:
    """Whatever its servers do, a node runs until it is asked to stop, and then stops."""
    for what in history.crashes:
        yield Violation("no node ends by itself", history.seconds, what)


CHECKS: tuple[Check, ...] = (
    no_tick_is_lost,
    no_tick_is_doubled,
    no_tick_is_early,
    fired_means_a_job,
    completed_at_most_once,
    no_submission_is_lost,
    batches_are_whole,
    epochs_never_fall,
    an_epoch_has_one_leader,
    no_fire_by_a_deposed_leader,
    one_leader_at_a_time,
    failover_is_quick,
    everything_settles,
    no_node_ends_by_itself,
)


def violations(history: History) -> list[Violation]:
    """All violations, in the order of time."""
    found = [violation for check in CHECKS for violation in check(history)]
    return sorted(found, key=lambda violation: violation.at)


def _of_tick(history: History, check: str, tick: Tick, what: str) -> Violation:
    name, tick_at = tick
    return Violation(check, history.second(tick_at), f"the tick of {name} at {tick_at} {what}")
