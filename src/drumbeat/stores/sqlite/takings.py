"""Takings: what a claim has taken from each line, until it is written."""

from __future__ import annotations

from drumbeat.model.ids import NodeId
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import ATTEMPT, FENCE, ID, Row, guards_for
from drumbeat.stores.sqlite.session import QUEUED, RUNNING, StoreSession
from drumbeat.stores.sqlite.sql import CLAIMS, JOBS, write_rows


class Taking:
    """What was taken from one line: always its first jobs."""

    __slots__ = ("cancelled", "last", "line", "started")

    def __init__(self, line: Line) -> None:
        self.line = line
        self.started: list[Row] = []
        self.cancelled = 0
        self.last: Row = ()
        """The row of the last job that was taken."""


class Takings:
    """What was taken from all lines."""

    def __init__(self, session: StoreSession, by: NodeId, now: Moment) -> None:
        self._session = session
        self._by = by
        self._now = now.number
        self._by_line: dict[int, Taking] = {}

    def of(self, line: Line) -> Taking:
        """What was taken from a line so far."""
        taking = self._by_line.get(line.id)
        if taking is None:
            taking = self._by_line[line.id] = Taking(line)
        return taking

    def line_of(self, number: int) -> Line:
        """The line of a number, from which something was taken."""
        return self._by_line[number].line

    def write(self) -> None:
        """Let the jobs that were taken leave their lines, and those that were claimed run."""
        session = self._session
        running: list[object] = []
        singles: list[int] = []
        for taking in self._by_line.values():
            line, started = taking.line, len(taking.started)
            session.count(line.lane, RUNNING, started)
            session.count(line.lane, QUEUED, -started - taking.cancelled)
            place = (line.id, *taking.last[:3])
            if started > 1 and not taking.cancelled:
                # The file has all that is needed: half the time of handing it over again.
                session.execute(CLAIMS.start_through, (self._by, self._now, *place))
            else:
                for row in taking.started:
                    running += self._running(row, line)
            if started + taking.cancelled > 1:
                session.execute(JOBS.delete_queued_through, place)
            else:
                singles += place
        write_rows(session.connection, JOBS.many("insert_running"), 7, running)
        write_rows(session.connection, JOBS.many("delete_queued"), 4, singles)

    def _running(self, row: Row, line: Line) -> tuple[object, ...]:
        attempt, fence = row[ATTEMPT] + 1, row[FENCE] + 1
        return row[ID], line.id, attempt, fence, self._by, self._now, guards_for(row)
