"""Commit: writing plans and edits of schedules, each whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any

from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import Moment, to_number, to_number_or_none
from drumbeat.backends.sqlite.store.fence import fence_row
from drumbeat.backends.sqlite.store.jobs.insertion import create
from drumbeat.backends.sqlite.store.jobs.transitions import cancel
from drumbeat.backends.sqlite.store.schedules.ledger import Signature, record_fired, record_skipped
from drumbeat.backends.sqlite.store.schedules.rows import columns_of, skips_from_text, skips_to_text
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import SCHEDULES, write_rows
from drumbeat.backends.store_rules import REPLACED
from drumbeat.model.errors import StaleEpoch, UnknownSchedule
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.schedules.plan import (
    AlreadyFired,
    Backfilled,
    Committed,
    Edit,
    Fire,
    Plan,
    Raced,
    Written,
)
from drumbeat.model.schedules.schedule import StoredSchedule

new_committed = fast_constructor(Committed)


def leader_of(session: StoreSession, epoch: Epoch) -> NodeId:
    """The node that holds the fence by this epoch, else `StaleEpoch`."""
    row = fence_row(session.connection, epoch.election)
    if row is None or row.epoch != epoch.number:
        raise StaleEpoch(ours=epoch.number, seen=row.epoch if row else 0)
    return row.holder


def put(session: StoreSession, edits: Sequence[Edit], now: Moment) -> list[Written | Raced]:
    session.flush_rows()
    signature = Signature(now)
    verdicts: list[Written | Raced] = []
    for edit in edits:
        if not _is_as_read(edit.before, _version(session, edit.name)):
            verdicts.append(Raced(edit.name))
            continue
        if edit.after is not None:
            session.execute(SCHEDULES.write, columns_of(edit.after))
            if edit.after.next_tick is not None:
                session.hints |= topics.TIMES
        elif edit.before is not None:
            session.execute(SCHEDULES.remove, (edit.name,))
        for skip in edit.skips:
            record_skipped(session, edit.name, skip, signature)
        verdicts.append(Written(edit.name))
    return verdicts


def backfill(
    session: StoreSession, name: str, fires: Sequence[Fire], now: Moment
) -> list[Backfilled | AlreadyFired]:
    session.flush_rows()
    if _version(session, name) is None:
        raise UnknownSchedule(name)
    fired = fired_among(session, [(name, fire) for fire in fires])
    signature = Signature(now, backfilled=True)
    verdicts: list[Backfilled | AlreadyFired] = []
    for fire in fires:
        job_id = fire_tick(session, name, fire, fired, signature)
        verdicts.append(
            AlreadyFired(fire.tick_at) if job_id is None else Backfilled(fire.tick_at, job_id)
        )
    return verdicts


class Commit:
    """A batch of plans in one transaction."""

    def __init__(self, session: StoreSession, signature: Signature) -> None:
        self._session = session
        self._signature = signature
        self._states: dict[str, ScheduleState] = {}
        self._fired: set[tuple[str, int]] = set()

    def run(self, plans: Sequence[Plan]) -> list[Committed | Raced]:
        session = self._session
        session.flush_rows()
        names = json.dumps([plan.name for plan in plans])
        states = starmap(ScheduleState, session.execute(SCHEDULES.states, (names,)))
        self._states = {state.name: state for state in states}
        self._fired = fired_among(
            session, ((plan.name, fire) for plan in plans for fire in plan.fires)
        )
        session.load_groups(fire.job for plan in plans for fire in plan.fires)
        verdicts = [self._commit(plan) for plan in plans]
        advanced: list[Any] = []
        for state in self._states.values():
            if state.advanced:
                advanced += state.columns()
        write_rows(session.connection, SCHEDULES.many("advance"), 8, advanced)
        return verdicts

    def _commit(self, plan: Plan) -> Committed | Raced:
        name = plan.name
        session, fired, signature = self._session, self._fired, self._signature
        state = self._states.get(name)
        if state is None or not state.is_assumed_by(plan):
            return Raced(name)
        if to_number(plan.cursor) > signature.recorded_at.number:  # it was planned ahead
            return Raced(name)
        created = [fire_tick(session, name, fire, fired, signature) for fire in plan.fires]
        jobs = [job_id for job_id in created if job_id is not None]
        for skip in plan.skips:
            record_skipped(session, name, skip, signature)
        if plan.cancels:
            cancel(session, plan.cancels, REPLACED, signature.recorded_at)
        state.advance(plan, jobs)
        return new_committed(name, tuple(jobs))


@dataclass(slots=True)
class ScheduleState:
    """A schedule as it is within the transaction: what plans are compared with and change."""

    name: str
    version: int
    read_cursor: int
    runs: int
    last_job: JobId | None
    skips: str | None
    unfinished: bool
    cursor: int = field(init=False)
    next_tick: int | None = None
    advanced: bool = False

    def __post_init__(self) -> None:
        self.cursor = self.read_cursor

    def is_assumed_by(self, plan: Plan) -> bool:
        """Whether it is still as the plan has read it."""
        before = plan.before
        if before.version != self.version or to_number(before.cursor) != self.cursor:
            return False
        assumed = plan.assumes_unfinished
        return assumed is None or assumed == self.unfinished

    def advance(self, plan: Plan, jobs: Sequence[JobId]) -> None:
        self.cursor = to_number(plan.cursor)
        self.next_tick = to_number_or_none(plan.next_tick)
        self.runs += len(jobs)
        if jobs:
            self.last_job, self.unfinished = jobs[-1], True
        if self.skips:
            left = frozenset(skip for skip in skips_from_text(self.skips) if skip > self.cursor)
            self.skips = skips_to_text(left)
        self.advanced = True

    def columns(self) -> tuple[Any, ...]:
        """What `advance` writes, with the version and cursor that it compares again."""
        return (
            *(self.name, self.version, self.read_cursor, self.cursor, self.next_tick),
            *(self.runs, self.last_job, self.skips),
        )


def fired_among(session: StoreSession, fires: Iterable[tuple[str, Fire]]) -> set[tuple[str, int]]:
    """Which of some ticks have fired, by the ledger."""
    ticks = [(name, to_number(fire.tick_at)) for name, fire in fires]
    if not ticks:
        return set()
    return set(session.execute(SCHEDULES.fired, (json.dumps(ticks),)).fetchall())


def fire_tick(
    session: StoreSession,
    name: str,
    fire: Fire,
    fired: set[tuple[str, int]],
    signature: Signature,
) -> JobId | None:
    """Create the tick's job and its row, unless it has fired."""
    tick_at = to_number(fire.tick_at)
    if (name, tick_at) in fired:
        return None
    fired.add((name, tick_at))
    job_id = create(session, fire.job, signature.recorded_at).id
    record_fired(session, name, tick_at, job_id, signature)
    return job_id


def _version(session: StoreSession, name: str) -> tuple[int, int] | None:
    found: tuple[int, int] | None = session.execute(SCHEDULES.version, (name,)).fetchone()
    return found


def _is_as_read(read: StoredSchedule | None, version: tuple[int, int] | None) -> bool:
    """Whether a schedule still has the version and the cursor that were read."""
    if read is None or version is None:
        return read is None and version is None
    return (read.version, to_number(read.cursor)) == version
