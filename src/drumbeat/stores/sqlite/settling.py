"""Settling: attempts end, and their jobs end or wait again."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.errors import IllegalChange
from drumbeat.model.job import FINAL, Change, Settled, Settlement, Status, Superseded
from drumbeat.model.swift import swift
from drumbeat.rules.statuses import SETTLING, UNCOUNTED, after, settled
from drumbeat.sqlite.instants import to_microseconds
from drumbeat.sqlite.news import FINISHED
from drumbeat.stores.sqlite.admission import Admission
from drumbeat.stores.sqlite.creating import wait
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import Row
from drumbeat.stores.sqlite.session import COLUMN, PENDING, QUEUED, RUNNING, StoreSession
from drumbeat.stores.sqlite.sql import JOBS, listed, write_rows

HISTORY = 100
"""How many ended attempts of a job are remembered."""
COMPLETE, COMPLETED = Change.COMPLETE, Status.COMPLETED
STATUS = {change: after(Status.RUNNING, change) for change in SETTLING}
"""Where a running job stands after a change, but that it may be queued in place of pending."""

new_settled = swift(Settled)


def check_settlements(settlements: Sequence[Settlement]) -> None:
    """Refuse, before anything is written, a change that no settlement may make."""
    for settlement in settlements:
        if settlement.change not in SETTLING:
            raise IllegalChange(Status.RUNNING, settlement.change)


class Settling:
    """A batch of settlements in one transaction."""

    def __init__(self, session: StoreSession, now: Moment) -> None:
        self._session = session
        self._now = now
        self._together: Sequence[Settlement] = ()
        """Those that were completed as a whole."""
        self._verdicts: list[Settled | Superseded] = []
        self._over: list[int] = []
        self._completed: list[int] = []
        self._finished: list[object] = []
        self._guarding: list[int] = []
        self._attempts: list[object] = []
        self._waiting: list[tuple[Line, tuple[int, int, int]]] = []
        self._freed: list[Line] = []
        self._line: Line | None = None
        """That of the job before: mostly the next one's too."""
        self._moves: dict[tuple[int, int], int] = {}
        """How many jobs of each lane came to stand in each column."""

    def run(self, settlements: Sequence[Settlement]) -> None:
        """Close each attempt whose hold is current."""
        if len(settlements) > 1 and self._complete_together(settlements):
            self._together = settlements
        elif settlements:
            ids = listed([settlement.hold.job_id for settlement in settlements])
            rows = self._session.execute(JOBS.held_by_ids, (ids,)).fetchall()
            held: dict[int, Row] = {row[0]: row for row in rows}
            self._verdicts = [self._settle(settlement, held) for settlement in settlements]
            if self._over:
                self._write()

    def verdicts(self) -> list[Settled | Superseded]:
        """What became of each. This needs nothing of the file."""
        return self._verdicts or [new_settled(each.hold, COMPLETED) for each in self._together]

    def _complete_together(self, settlements: Sequence[Settlement]) -> bool:
        """Complete a batch of the usual kind, as a whole; False: it is not of that kind.

        Jobs that were claimed together mostly end together. If their numbers follow each other and
        their holds have all in common, the file is asked for that and not for each of them.
        """
        fence = settlements[0].hold.fence
        ids: list[int] = []
        for settlement in settlements:
            hold = settlement.hold
            if (
                settlement.change is not COMPLETE
                or settlement.result is not None
                or settlement.error is not None
                or hold.fence != fence
            ):
                return False
            ids.append(hold.job_id)
        ids.sort()
        first, last = ids[0], ids[-1]
        if last - first >= len(ids) or ids != list(range(first, last + 1)):
            return False
        session = self._session
        found = session.execute(JOBS.held_together, (first, last)).fetchone()
        if found != (len(ids), found[1], found[1], fence, fence, 0):
            return False
        line = session.lines.get(session.connection, found[1])
        if line.limited:
            return False
        session.execute(JOBS.complete_together, (self._now.number, first, last))
        session.execute(JOBS.delete_running_together, (first, last))
        session.count(line.lane, RUNNING, -len(ids))
        session.count(line.lane, COLUMN[COMPLETED], len(ids))
        session.news |= FINISHED
        return True

    def _settle(self, settlement: Settlement, held: dict[int, Row]) -> Settled | Superseded:
        hold = settlement.hold
        job_id = hold.job_id
        row = held.pop(job_id, None)
        if row is None or row[2] != hold.fence:
            if row is not None:
                held[job_id] = row
            return Superseded(hold)
        line = self._line
        if line is None or line.id != row[1]:
            line = self._line = self._session.lines.get(self._session.connection, row[1])
        self._over.append(job_id)
        if line.limited:
            self._freed.append(line)
        if settlement.change is COMPLETE:
            status = COMPLETED
            self._finish(settlement, COMPLETED, settlement.error, row)
        else:
            status = self._end_otherwise(settlement, row, line)
        move = (line.lane, COLUMN[status])
        self._moves[move] = self._moves.get(move, 0) + 1
        return new_settled(hold, status)

    def _end_otherwise(self, settlement: Settlement, row: Row, line: Line) -> Status:
        job_id, _, fence, cancel_requested, _ = row
        change = settled(settlement.change, cancel_requested=bool(cancel_requested))
        error, now = settlement.error, self._now.number
        found = self._session.execute(JOBS.attempt, (job_id,)).fetchone()
        attempt, node, started_at, rank, run_at, said = found
        self._attempts += (job_id, fence, attempt, node, started_at, now, change.value, error)
        if fence > HISTORY:
            self._session.execute(JOBS.forget_attempts, (job_id, fence - HISTORY))
        if cancel_requested and change is Change.CANCEL:
            error = said or error  # the reason of whoever asked for it comes first
        status = STATUS[change]
        if status in FINAL:
            self._finish(settlement, status, error, row)
            return status
        if change in UNCOUNTED:
            attempt -= 1
        if change is not Change.GIVE_BACK:  # which keeps its place: it has waited long enough
            run_at = now + to_microseconds(settlement.delay)
        self._session.execute(JOBS.let_wait, (run_at, attempt, fence, error, job_id))
        self._waiting.append((line, (rank, run_at, job_id)))
        return Status.PENDING if run_at > now else Status.QUEUED

    def _finish(self, settlement: Settlement, status: Status, error: str | None, row: Row) -> None:
        job_id = row[0]
        if row[4] is not None:
            self._guarding.append(job_id)
        if status is COMPLETED and settlement.result is None and error is None:
            self._completed.append(job_id)
        else:
            self._finished += (job_id, status.value, self._now.number, settlement.result, error)

    def _write(self) -> None:
        session = self._session
        connection, execute = session.connection, session.execute
        if self._completed:
            execute(JOBS.complete, {"now": self._now.number, "ids": listed(self._completed)})
        write_rows(connection, JOBS.many("finish"), 5, self._finished)
        if self._completed or self._finished:
            session.news |= FINISHED
        if self._guarding:
            execute(JOBS.guard_keys, (listed(self._guarding),))
        write_rows(connection, JOBS.many("insert_attempts"), 8, self._attempts)
        execute(JOBS.delete_running, (listed(self._over),))
        for (lane, column), jobs in self._moves.items():
            session.count(lane, RUNNING, -jobs)
            if column not in (PENDING, QUEUED):  # which are counted where they come to stand
                session.count(lane, column, jobs)
        for line, place in self._waiting:
            wait(session, line, place, self._now)
        if self._freed:
            session.flush_rows()
            Admission(session).end(self._freed)
