"""Commits: plans and edits of schedules become rows, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from drumbeat.model.errors import StaleEpoch, UnknownSchedule
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.lease import Epoch
from drumbeat.model.plan import (
    AlreadyFired,
    Backfilled,
    Committed,
    Edit,
    Fire,
    Plan,
    Raced,
    Written,
)
from drumbeat.model.schedule import StoredSchedule
from drumbeat.model.swift import swift
from drumbeat.sqlite.instants import to_number, to_number_or_none
from drumbeat.sqlite.news import TIMES
from drumbeat.stores.sqlite.cancelling import cancel
from drumbeat.stores.sqlite.creating import create
from drumbeat.stores.sqlite.definitions import row_of, skips_from_text, skips_to_text
from drumbeat.stores.sqlite.ledger import Signature, record_fired, record_skipped
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import NODES, SCHEDULES, write_rows

REPLACED = "replaced by a later tick of its schedule"

new_committed = swift(Committed)


def leader_of(session: StoreSession, epoch: Epoch) -> NodeId:
    """The node that holds the fence by this epoch, else `StaleEpoch`."""
    row = session.execute(NODES.fence, (epoch.election,)).fetchone()
    if row is None or row[0] != epoch.number:
        raise StaleEpoch(ours=epoch.number, seen=row[0] if row else 0)
    return NodeId(row[3])


def put(session: StoreSession, edits: Sequence[Edit], now: Moment) -> list[Written | Raced]:
    """Apply each edit whose `before` still stands, with its skips."""
    session.flush_rows()
    found = session.execute(SCHEDULES.earliest).fetchone()
    earliest = found[0] if found else None
    signature = Signature(now)
    verdicts: list[Written | Raced] = []
    for edit in edits:
        if not _stands_as(edit.before, _standing(session, edit.name)):
            verdicts.append(Raced(edit.name))
            continue
        if edit.after is not None:
            session.execute(SCHEDULES.write, row_of(edit.after))
            tick = to_number_or_none(edit.after.next_tick)
            if tick is not None and (earliest is None or tick < earliest):
                earliest = tick
                session.news |= TIMES
        elif edit.before is not None:
            session.execute(SCHEDULES.remove, (edit.name,))
        for skip in edit.skips:
            record_skipped(session, edit.name, skip, signature)
        verdicts.append(Written(edit.name))
    return verdicts


def backfill(
    session: StoreSession, name: str, fires: Sequence[Fire], now: Moment
) -> list[Backfilled | AlreadyFired]:
    """Fire past ticks by hand."""
    session.flush_rows()
    if _standing(session, name) is None:
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
        self._standing: dict[str, Standing] = {}
        self._fired: set[tuple[str, int]] = set()

    def run(self, plans: Sequence[Plan]) -> list[Committed | Raced]:
        """Write each plan whose schedule still stands as it was read."""
        session = self._session
        session.flush_rows()
        names = json.dumps([plan.name for plan in plans])
        self._standing = {
            row[0]: Standing(row) for row in session.execute(SCHEDULES.plans_stand_on, (names,))
        }
        self._fired = fired_among(
            session, ((plan.name, fire) for plan in plans for fire in plan.fires)
        )
        session.learn_lines(fire.job for plan in plans for fire in plan.fires)
        verdicts = [self._commit(plan) for plan in plans]
        advanced: list[Any] = []
        for standing in self._standing.values():
            if standing.moved:
                advanced += standing.row()
        write_rows(session.connection, SCHEDULES.many("advance"), 8, advanced)
        return verdicts

    def _commit(self, plan: Plan) -> Committed | Raced:
        name = plan.name
        standing = self._standing.get(name)
        if standing is None or not standing.is_assumed_by(plan):
            return Raced(name)
        jobs: list[JobId] = []
        for fire in plan.fires:
            job_id = fire_tick(self._session, name, fire, self._fired, self._signature)
            if job_id is not None:
                jobs.append(job_id)
        for skip in plan.skips:
            record_skipped(self._session, name, skip, self._signature)
        if plan.cancels:
            cancel(self._session, plan.cancels, REPLACED, self._signature.recorded_at)
        standing.advance(plan, jobs)
        return new_committed(name, tuple(jobs))


class Standing:
    """Where a schedule stands within the transaction."""

    __slots__ = (
        "_before",
        "_cursor",
        "_last_job",
        "_name",
        "_next_tick",
        "_runs",
        "_skips",
        "_unfinished",
        "_version",
        "moved",
    )

    def __init__(self, row: tuple[Any, ...]) -> None:
        self._name, self._version, self._cursor, self._runs = row[:4]
        self._last_job, self._skips, self._unfinished = row[4:]
        self._before = self._cursor
        self._next_tick: int | None = None
        self.moved = False

    def is_assumed_by(self, plan: Plan) -> bool:
        """Whether it is still as the plan has read it."""
        before = plan.before
        if before.version != self._version or to_number(before.cursor) != self._cursor:
            return False
        assumed = plan.assumes_unfinished
        return assumed is None or assumed == bool(self._unfinished)

    def advance(self, plan: Plan, jobs: Sequence[JobId]) -> None:
        """The plan was written."""
        self._cursor = to_number(plan.cursor)
        self._next_tick = to_number_or_none(plan.next_tick)
        self._runs += len(jobs)
        if jobs:
            self._last_job, self._unfinished = jobs[-1], True
        if self._skips:
            left = frozenset(skip for skip in skips_from_text(self._skips) if skip > self._cursor)
            self._skips = skips_to_text(left)
        self.moved = True

    def row(self) -> tuple[Any, ...]:
        """What is written of it, and what it is compared with once more."""
        return (
            *(self._name, self._version, self._before, self._cursor, self._next_tick),
            *(self._runs, self._last_job, self._skips),
        )


def fired_among(session: StoreSession, fires: Iterable[tuple[str, Fire]]) -> set[tuple[str, int]]:
    """Those of some ticks that the ledger has as fired."""
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


def _standing(session: StoreSession, name: str) -> tuple[int, int] | None:
    found: tuple[int, int] | None = session.execute(SCHEDULES.standing, (name,)).fetchone()
    return found


def _stands_as(read: StoredSchedule | None, standing: tuple[int, int] | None) -> bool:
    """Whether a schedule is still as it was read: the same version and the same cursor."""
    if read is None or standing is None:
        return read is None and standing is None
    return (read.version, to_number(read.cursor)) == standing
