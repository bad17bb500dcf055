"""Claims: which queued jobs a worker gets next.

A worker looks at the lanes of its queues and its tasks. Where no limits are in play, the best jobs
over all its lanes are one statement. Where they are, each line with limits stands for its first
job, and lines and single jobs are taken in one order, best first.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import Attempt, OnConflict, Wanted
from drumbeat.sqlite.instants import to_instant, to_instant_or_none
from drumbeat.sqlite.news import FINISHED
from drumbeat.stores.sqlite.admission import Admission, LetIn, Place
from drumbeat.stores.sqlite.cancelling import finish_waiting
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import (
    ATTEMPT,
    CREATED_AT,
    FENCE,
    ID,
    LINE,
    Row,
    new_attempt,
    new_hold,
    spec_of,
)
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import CLAIMS, QUEUES, listed, write_rows
from drumbeat.stores.sqlite.takings import Takings
from drumbeat.stores.sqlite.turn import Turn

LIMIT_REACHED = "its limit was reached when its turn came"
ARMS = (1, 2, 4, 8, 16, 32, 64)
"""Lanes that one statement merges; sizes are few, so that few statements are prepared."""
NO_LANE = -1
BEFORE_ALL: Place = (-(2**62), -(2**62), -1)

_LINE_OF = itemgetter(LINE)

Head: TypeAlias = tuple[int, int, int, "Row | Turn"]
"""A place, and the job or the line that has it. No two have the same."""


class Claim:
    """One worker's turn: takes jobs from the lines, best first, never one that may not start."""

    def __init__(self, session: StoreSession, by: NodeId, now: Moment) -> None:
        self._session = session
        self._by = by
        self._now = now
        self._admission = Admission(session)
        self._takings = Takings(session, by, now)
        self._heads: list[Head] = []
        self._turns: dict[int, Turn] = {}
        self._lanes: list[int] = []
        self._fronted: list[int] = []
        self._horizon: Place | None = None
        """Lines behind this place have not been looked at yet."""
        self._started: list[Row] = []
        self.cancelled: list[JobId] = []
        self.try_at: datetime | None = None

    def run(self, wanted: Wanted) -> None:
        """Claim as much as is wanted and may start."""
        session = self._session
        limit = wanted.limit + wanted.ahead
        if limit > 0 and session.paused:
            wanted = self._without_paused(wanted)
        lanes = session.lines.wanted(wanted) if limit > 0 else []
        if not lanes:
            return
        session.flush_rows()
        self._lanes = lanes
        numbers = listed(lanes)
        if session.openings:
            self._admission.reopen(numbers, self._now)
        free = lanes
        if session.fronts or len(lanes) > 1:
            busy = session.execute(CLAIMS.busy_lanes, (numbers,)).fetchall()
            free = [lane for lane, queued, _ in busy if queued]
            self._fronted = [lane for lane, _, fronted in busy if fronted]
        rows = self._first_of(free, limit)
        if self._fronted:
            self._merge(rows, wanted)
        else:
            self._start(rows)
        self._write()
        if session.openings:
            (opens_at,) = session.execute(CLAIMS.next_opening, (numbers,)).fetchone()
            self.try_at = to_instant_or_none(opens_at)

    def _without_paused(self, wanted: Wanted) -> Wanted:
        """What is wanted, but for queues whose jobs are not claimed now."""
        paused = {queue for queue, _, _ in self._session.execute(QUEUES.paused)}
        return replace(wanted, queues=tuple(set(wanted.queues) - paused))

    def attempts(self) -> tuple[Attempt, ...]:
        """What was claimed. This needs nothing of the file."""
        by, instant, line_of = self._by, self._now.instant, self._takings.line_of
        attempts: list[Attempt] = []
        created_at, created = -1, instant
        number, line = -1, None
        for row in self._started:
            if line is None or number != row[LINE]:
                number = row[LINE]
                line = line_of(number)
            if created_at != row[CREATED_AT]:  # jobs that came together are claimed together
                created_at = row[CREATED_AT]
                created = to_instant(created_at)
            hold = new_hold(row[ID], row[FENCE] + 1)
            attempts.append(
                new_attempt(hold, row[ATTEMPT] + 1, spec_of(row, line), by, instant, created)
            )
        return tuple(attempts)

    def _first_of(self, lanes: list[int], limit: int) -> list[Row]:
        """The first jobs over all lanes, not counting those with limits, in their order."""
        if len(lanes) == 1:
            return self._session.execute(CLAIMS.first_of_line, (lanes[0], limit)).fetchall()
        rows: list[Row] = []
        for start in range(0, len(lanes), ARMS[-1]):
            some = lanes[start : start + ARMS[-1]]
            size = next(arms for arms in ARMS if arms >= len(some))
            padded = some + [NO_LANE] * (size - len(some))
            text = CLAIMS.first_of_lanes % " UNION ALL ".join([CLAIMS.first_of_lane] * size)
            rows += self._session.execute(text, (*padded, limit)).fetchall()
        rows.sort(key=_place)
        return rows[:limit]

    def _merge(self, rows: list[Row], wanted: Wanted) -> None:
        """Take single jobs and lines with limits in one order."""
        limit = wanted.limit + wanted.ahead
        self._heads = [(row[0], row[1], row[2], row) for row in rows]
        heapify(self._heads)
        self._horizon = BEFORE_ALL
        while len(self._started) < limit:
            if self._has_come_to_the_horizon():
                self._look_further(limit)
                continue
            if not self._heads:
                break
            if len(self._started) >= wanted.limit and isinstance(self._heads[0][3], Turn):
                break  # it may start, but not be held
            *place, head = heappop(self._heads)
            if isinstance(head, Turn):
                self._consider(head, (place[0], place[1], place[2]))
            else:
                self._start([head])

    def _has_come_to_the_horizon(self) -> bool:
        """Whether a line that was not looked at yet may be the best now."""
        if self._horizon is None:
            return False
        return not self._heads or self._heads[0][:3] > self._horizon

    def _look_further(self, limit: int) -> None:
        """Bring the next lines with limits into the order."""
        assert self._horizon is not None
        fronts: list[tuple[int, int, int, int]] = []
        furthest: list[Place] = []
        for lane in self._fronted:
            found = self._session.execute(
                CLAIMS.open_fronts, (lane, *self._horizon, limit)
            ).fetchall()
            fronts += found
            if len(found) == limit:
                furthest.append(found[-1][:3])
        self._horizon = min(furthest) if furthest else None
        if self._horizon is not None:  # of the others too, look no further than that
            fronts = [front for front in fronts if front[:3] <= self._horizon]
        self._bring([(0, front[:3], front[3]) for front in fronts])

    def _bring(self, fronts: list[LetIn]) -> None:
        """Put lines in the order, with the first of their jobs at hand."""
        new = [(place, number) for _, place, number in fronts if number not in self._turns]
        if not new:
            return
        session = self._session
        numbers = [number for _, number in new]
        session.lines.load(session.connection, numbers)
        lines = [self._line(number) for number in numbers]
        self._admission.prepare(lines)
        jobs: dict[int, list[Row]] = {}
        for row in session.execute(CLAIMS.first_two_of_lines, (listed(numbers),)):
            jobs.setdefault(row[LINE], []).append(row)
        for (place, number), line in zip(new, lines, strict=True):
            self._turns[number] = turn = Turn(line, place, jobs.get(number, []))
            heappush(self._heads, (*place, turn))

    def _consider(self, turn: Turn, place: Place) -> None:
        """Claim or cancel the first job of a line, or park the line."""
        line, row = turn.line, turn.first(self._session)
        if row is None:
            turn.over = True
        elif _place(row) != place:  # who stood in front has left; look again at this one's turn
            heappush(self._heads, (*_place(row), turn))
            return
        else:
            self._admit(turn, row)
        if not (turn.over or turn.parked):
            following = turn.first(self._session)
            if following is None:
                turn.over = True
            else:
                heappush(self._heads, (*_place(following), turn))
        let_in = list(self._admission.replace(line, self._now))
        if let_in:
            for _, _, number in let_in:
                self._turns.pop(number, None)
            self._bring([each for each in let_in if each[0] in self._lanes])

    def _admit(self, turn: Turn, row: Row) -> None:
        admission, line, now = self._admission, turn.line, self._now
        rate = line.rate
        if rate is not None and (opens_at := admission.opens_at(rate, now)) is not None:
            admission.park_for_rate(line, _place(row), rate, opens_at)
            turn.parked = True
        elif full := admission.reached(line, OnConflict.WAIT):
            admission.park_at_limit(line, _place(row), full)
            turn.parked = True
        elif admission.reached(line, OnConflict.CANCEL):
            self._cancel(row, line)
            turn.advance()
        else:
            admission.start(line, now)
            self._start([row])
            turn.advance()

    def _start(self, rows: list[Row]) -> None:
        """Claim jobs, in their order."""
        self._started += rows
        for number, some in groupby(rows, _LINE_OF):
            taking = self._takings.of(self._line(number))
            taking.started += some
            taking.last = taking.started[-1]

    def _cancel(self, row: Row, line: Line) -> None:
        """Only now is it the job's turn: until here, something made it wait."""
        taking = self._takings.of(line)
        taking.cancelled += 1
        taking.last = row
        finish_waiting(self._session, row[ID], line, LIMIT_REACHED, self._now)
        self.cancelled.append(row[ID])
        self._session.news |= FINISHED

    def _write(self) -> None:
        """Bring the tables in line with what was taken."""
        connection, execute = self._session.connection, self._session.execute
        self._takings.write()
        self._admission.write()
        over = [turn.line.id for turn in self._turns.values() if turn.over]
        if over:
            execute(CLAIMS.delete_fronts, (listed(over),))
        moved: list[int] = []
        for turn in self._turns.values():
            row = turn.moved()
            if row is not None:
                moved += (turn.line.id, *_place(row))
        write_rows(connection, CLAIMS.many("move_fronts"), 4, moved)

    def _line(self, number: int) -> Line:
        return self._session.lines.get(self._session.connection, number)


def _place(row: Row) -> Place:
    return row[0], row[1], row[2]
