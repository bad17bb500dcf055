"""Settlement: closing attempts, so that their jobs end or wait again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import Moment, to_microseconds
from drumbeat.backends.sqlite.store.jobs.admission import Admission
from drumbeat.backends.sqlite.store.jobs.insertion import wait
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import Place
from drumbeat.backends.sqlite.store.session import COLUMN, PENDING, QUEUED, RUNNING, StoreSession
from drumbeat.backends.sqlite.store.sql import JOBS, json_list, write_rows
from drumbeat.backends.store_rules import HISTORY, SETTLED
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import FINAL, Change, Settled, Settlement, Status, Superseded
from drumbeat.rules.jobs.transitions import UNCOUNTED, settled

COMPLETE, COMPLETED = Change.COMPLETE, Status.COMPLETED

new_settled = fast_constructor(Settled)


class HeldRow(NamedTuple):
    """The hold on a running job."""

    id: JobId
    limit_group: int
    fence: int
    cancel_requested: int
    guards_for: int | None


class SettlementBatch:
    """A batch of settlements in one transaction."""

    def __init__(self, session: StoreSession, now: Moment) -> None:
        self._session = session
        self._now = now
        self._together: Sequence[Settlement] = ()
        """Those that were completed as one range of ids."""
        self._verdicts: list[Settled | Superseded] = []
        self._over: list[int] = []
        self._completed: list[int] = []
        self._finished: list[object] = []
        self._guarding: list[int] = []
        self._attempts: list[object] = []
        self._waiting: list[tuple[LimitGroup, Place]] = []
        self._freed: list[LimitGroup] = []
        self._group: LimitGroup | None = None
        """That of the previous job: mostly the next one's too."""
        self._moves: dict[tuple[int, int], int] = {}
        """How many jobs of each lane got each status, by its column."""

    def run(self, settlements: Sequence[Settlement]) -> None:
        """Close each attempt whose hold is current."""
        self._session.flush_rows()
        if len(settlements) > 1 and self._complete_together(settlements):
            self._together = settlements
        elif settlements:
            ids = json_list([settlement.hold.job_id for settlement in settlements])
            rows = map(HeldRow._make, self._session.execute(JOBS.held_by_ids, (ids,)))
            held = {row.id: row for row in rows}
            self._verdicts = [self._settle(settlement, held) for settlement in settlements]
            if self._over:
                self._write()

    def verdicts(self) -> list[Settled | Superseded]:
        """The verdict on each. This does not use the file."""
        return self._verdicts or [new_settled(each.hold, COMPLETED) for each in self._together]

    def _complete_together(self, settlements: Sequence[Settlement]) -> bool:
        """Complete jobs with consecutive ids by their range; False: they must be settled singly.

        Jobs that were claimed together mostly end together. If their ids are consecutive and their
        holds alike, three statements over the range do for the whole batch.
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
        found = session.execute(JOBS.held_range, (first, last)).fetchone()
        jobs, group_id, last_group_id, *rest = found
        if (jobs, group_id, rest) != (len(ids), last_group_id, [fence, fence, 0]):
            return False
        group = session.groups.get(session.connection, group_id)
        if group.limited:
            return False
        session.execute(JOBS.complete_range, (self._now.number, first, last))
        session.execute(JOBS.delete_running_range, (first, last))
        session.count(group.lane, RUNNING, -len(ids))
        session.count(group.lane, COLUMN[COMPLETED], len(ids))
        session.hints |= topics.FINISHED
        return True

    def _settle(self, settlement: Settlement, held: dict[JobId, HeldRow]) -> Settled | Superseded:
        hold = settlement.hold
        job_id = hold.job_id
        row = held.pop(job_id, None)
        if row is None or row.fence != hold.fence:
            if row is not None:
                held[job_id] = row
            return Superseded(hold)
        group = self._group
        if group is None or group.id != row.limit_group:
            group = self._session.groups.get(self._session.connection, row.limit_group)
            self._group = group
        self._over.append(job_id)
        if group.limited:
            self._freed.append(group)
        if settlement.change is COMPLETE:
            status = COMPLETED
            self._finish(settlement, COMPLETED, settlement.error, row)
        else:
            status = self._end_otherwise(settlement, row, group)
        move = (group.lane, COLUMN[status])
        self._moves[move] = self._moves.get(move, 0) + 1
        return new_settled(hold, status)

    def _end_otherwise(self, settlement: Settlement, row: HeldRow, group: LimitGroup) -> Status:
        job_id, fence = row.id, row.fence
        error, now = settlement.error, self._now.number
        found = self._session.execute(JOBS.attempt, (job_id,)).fetchone()
        attempt, node, started_at, rank, run_at, last_error, expires_at = found
        change = settled(
            settlement.change,
            cancel_requested=bool(row.cancel_requested),
            too_late=expires_at is not None
            and expires_at <= now + to_microseconds(settlement.delay),
        )
        self._attempts += (job_id, fence, attempt, node, started_at, now, change.value, error)
        if fence > HISTORY:
            self._session.execute(JOBS.delete_old_attempts, (job_id, fence - HISTORY))
        if row.cancel_requested and change is Change.CANCEL:
            error = last_error or error  # the reason given with the request comes first
        status = SETTLED[change]
        if status in FINAL:
            self._finish(settlement, status, error, row)
            return status
        if change in UNCOUNTED:
            attempt -= 1
        if change is not Change.GIVE_BACK:  # a job given back keeps its place
            run_at = now + to_microseconds(settlement.delay)
        self._session.execute(JOBS.wait_again, (run_at, attempt, fence, error, job_id))
        if expires_at is not None:
            self._session.hints |= topics.TIMES  # it did not count while it ran
        self._waiting.append((group, Place(rank, run_at, job_id)))
        return Status.PENDING if run_at > now else Status.QUEUED

    def _finish(
        self, settlement: Settlement, status: Status, error: str | None, row: HeldRow
    ) -> None:
        job_id = row.id
        if row.guards_for is not None:
            self._guarding.append(job_id)
        if status is COMPLETED and settlement.result is None and error is None:
            self._completed.append(job_id)
        else:
            self._finished += (job_id, status.value, self._now.number, settlement.result, error)

    def _write(self) -> None:
        session = self._session
        connection, execute = session.connection, session.execute
        if self._completed:
            execute(JOBS.complete, {"now": self._now.number, "ids": json_list(self._completed)})
        write_rows(connection, JOBS.many("finish"), 5, self._finished)
        if self._completed or self._finished:
            session.hints |= topics.FINISHED
        if self._guarding:
            execute(JOBS.guard_keys, (json_list(self._guarding),))
        write_rows(connection, JOBS.many("insert_attempts"), 8, self._attempts)
        execute(JOBS.delete_running, (json_list(self._over),))
        for (lane, column), jobs in self._moves.items():
            session.count(lane, RUNNING, -jobs)
            if column not in (PENDING, QUEUED):  # `wait` counts these
                session.count(lane, column, jobs)
        for group, place in self._waiting:
            wait(session, group, place, self._now)
        if self._freed:
            session.flush_rows()
            Admission(session).end(self._freed)
