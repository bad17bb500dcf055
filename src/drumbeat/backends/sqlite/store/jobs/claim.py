"""Claim: which queued jobs a worker gets next.

A worker looks at the lanes of its queues and its tasks. Without limits, the best jobs over all its
lanes are one statement. With limits, each limited group stands for its first job, and groups and
single jobs are taken in one order, best first.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import Moment, to_instant, to_instant_or_none
from drumbeat.backends.sqlite.store.jobs.admission import Admission
from drumbeat.backends.sqlite.store.jobs.claimed_jobs import ClaimedJobs
from drumbeat.backends.sqlite.store.jobs.group_turn import GroupTurn
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import (
    Place,
    QueuedRow,
    new_attempt,
    new_hold,
    spec_of,
)
from drumbeat.backends.sqlite.store.jobs.transitions import cancel_waiting, expire
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import CLAIMS, QUEUES, json_list, write_rows
from drumbeat.backends.store_rules import LIMIT_REACHED, MOST_EXPIRED
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import SKIPPED, Attempt, OnConflict, Wanted

ARMS = (1, 2, 4, 8, 16, 32, 64)
"""How many lanes one statement merges. Few sizes need few prepared statements."""
NO_LANE = -1
BEFORE_ALL = Place(-(2**62), -(2**62), -1)

_PLACE = attrgetter("rank", "run_at", "id")
_GROUP = attrgetter("limit_group")

Head: TypeAlias = tuple[Place, "QueuedRow | GroupTurn"]
"""A place, and the job or the group that has it. No two have the same place."""


class Claim:
    """Takes jobs for one worker, best first, and never one that may not start."""

    def __init__(self, session: StoreSession, by: NodeId, now: Moment) -> None:
        self._session = session
        self._by = by
        self._now = now
        self._admission = Admission(session)
        self._claimed = ClaimedJobs(session, by, now)
        self._heads: list[Head] = []
        self._turns: dict[int, GroupTurn] = {}
        self._lanes: list[int] = []
        self._fronted: list[int] = []
        """Lanes that have open groups with limits."""
        self._horizon: Place | None = None
        """Groups behind this place have not been read yet."""
        self._started: list[QueuedRow] = []
        self.cancelled: list[JobId] = []
        self.expired: list[JobId] = []
        self.try_at: datetime | None = None

    def run(self, wanted: Wanted) -> None:
        session = self._session
        limit = wanted.limit + wanted.ahead
        if limit > 0 and session.expires_at is not None:
            self.expired = expire(session, MOST_EXPIRED, self._now)
            if len(self.expired) == MOST_EXPIRED:
                self.try_at = self._now.instant
                return
        if limit > 0 and session.paused:
            wanted = self._without_paused(wanted)
        lanes = session.groups.wanted(wanted) if limit > 0 else []
        if not lanes:
            return
        session.flush_rows()
        self._lanes = lanes
        numbers = json_list(lanes)
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

    def attempts(self) -> tuple[Attempt, ...]:
        """What was claimed. This does not use the file."""
        by, instant, group_of = self._by, self._now.instant, self._claimed.group
        attempts: list[Attempt] = []
        created_at, created = -1, instant
        number, group = -1, None
        for row in self._started:
            if group is None or number != row.limit_group:
                number = row.limit_group
                group = group_of(number)
            if created_at != row.created_at:  # jobs inserted together are claimed together
                created_at = row.created_at
                created = to_instant(created_at)
            hold = new_hold(row.id, row.fence + 1)
            attempts.append(
                new_attempt(hold, row.attempt + 1, spec_of(row, group), by, instant, created)
            )
        return tuple(attempts)

    def _without_paused(self, wanted: Wanted) -> Wanted:
        paused = {queue for queue, _, _ in self._session.execute(QUEUES.paused)}
        return replace(wanted, queues=tuple(set(wanted.queues) - paused))

    def _first_of(self, lanes: list[int], limit: int) -> list[QueuedRow]:
        """The first jobs over all lanes without those of limited groups, in order."""
        if len(lanes) == 1:
            found = self._session.execute(CLAIMS.first_of_group, (lanes[0], limit))
            return list(map(QueuedRow._make, found))
        rows: list[QueuedRow] = []
        for start in range(0, len(lanes), ARMS[-1]):
            some = lanes[start : start + ARMS[-1]]
            size = next(arms for arms in ARMS if arms >= len(some))
            padded = some + [NO_LANE] * (size - len(some))
            text = CLAIMS.first_of_lanes % " UNION ALL ".join([CLAIMS.first_of_lane] * size)
            rows += map(QueuedRow._make, self._session.execute(text, (*padded, limit)))
        rows.sort(key=_PLACE)
        return rows[:limit]

    def _merge(self, rows: list[QueuedRow], wanted: Wanted) -> None:
        """Take single jobs and limited groups in one order."""
        limit = wanted.limit + wanted.ahead
        self._heads = [(row.place, row) for row in rows]
        heapify(self._heads)
        self._horizon = BEFORE_ALL
        while len(self._started) < limit:
            if self._is_past_horizon():
                self._read_fronts(limit)
                continue
            if not self._heads:
                break
            if len(self._started) >= wanted.limit and isinstance(self._heads[0][1], GroupTurn):
                break  # it may start, but not be held
            place, head = heappop(self._heads)
            if isinstance(head, GroupTurn):
                self._consider(head, place)
            else:
                self._start([head])

    def _is_past_horizon(self) -> bool:
        """Whether a group that was not read yet may be the best now."""
        if self._horizon is None:
            return False
        return not self._heads or self._heads[0][0] > self._horizon

    def _read_fronts(self, limit: int) -> None:
        assert self._horizon is not None
        fronts: list[tuple[Place, int]] = []
        furthest: list[Place] = []
        for lane in self._fronted:
            rows = self._session.execute(CLAIMS.open_fronts, (lane, *self._horizon, limit))
            found = [(Place(rank, run_at, job_id), group) for rank, run_at, job_id, group in rows]
            fronts += found
            if len(found) == limit:
                furthest.append(found[-1][0])
        self._horizon = min(furthest) if furthest else None
        if self._horizon is not None:  # read no further in the other lanes either
            fronts = [front for front in fronts if front[0] <= self._horizon]
        self._bring(fronts)

    def _bring(self, fronts: list[tuple[Place, int]]) -> None:
        """Put groups into the order, and read their first jobs."""
        new = [(place, number) for place, number in fronts if number not in self._turns]
        if not new:
            return
        session = self._session
        numbers = [number for _, number in new]
        session.groups.load(session.connection, numbers)
        groups = [self._group(number) for number in numbers]
        self._admission.prepare(groups)
        jobs: dict[int, list[QueuedRow]] = {}
        for found in session.execute(CLAIMS.first_two_of_groups, (json_list(numbers),)):
            row = QueuedRow._make(found)
            jobs.setdefault(row.limit_group, []).append(row)
        for (place, number), group in zip(new, groups, strict=True):
            self._turns[number] = turn = GroupTurn(group, place, jobs.get(number, []))
            heappush(self._heads, (place, turn))

    def _consider(self, turn: GroupTurn, place: Place) -> None:
        """Claim or cancel the first job of a group, or park the group."""
        row = turn.first(self._session)
        if row is None:
            turn.empty = True
        elif row.place != place:  # the job in front has left: look again at this one's turn
            heappush(self._heads, (row.place, turn))
            return
        else:
            self._admit(turn, row)
        if not (turn.empty or turn.parked):
            following = turn.first(self._session)
            if following is None:
                turn.empty = True
            else:
                heappush(self._heads, (following.place, turn))
        opened = list(self._admission.open_next(turn.group, self._now))
        for front in opened:
            self._turns.pop(front.limit_group, None)
        self._bring(
            [(front.place, front.limit_group) for front in opened if front.lane in self._lanes]
        )

    def _admit(self, turn: GroupTurn, row: QueuedRow) -> None:
        admission, group, now = self._admission, turn.group, self._now
        rate = group.rate
        if rate is not None and (opens_at := admission.opens_at(rate, now)) is not None:
            admission.park_for_rate(group, row.place, rate, opens_at)
            turn.parked = True
        elif full := admission.reached(group, OnConflict.WAIT):
            admission.park_at_limit(group, row.place, full)
            turn.parked = True
        elif admission.reached(group, OnConflict.CANCEL):
            self._cancel(row, group, LIMIT_REACHED)
            turn.advance()
        elif admission.reached(group, OnConflict.SKIP):
            self._cancel(row, group, LIMIT_REACHED if row.attempt else SKIPPED)
            turn.advance()
        else:
            admission.start(group, now)
            self._start([row])
            turn.advance()

    def _start(self, rows: list[QueuedRow]) -> None:
        self._started += rows
        for number, some in groupby(rows, _GROUP):
            claimed = self._claimed.of(self._group(number))
            claimed.started += some
            claimed.last = claimed.started[-1]

    def _cancel(self, row: QueuedRow, group: LimitGroup, reason: str) -> None:
        """Cancel a job that waited for other limits or a rate until its turn came."""
        claimed = self._claimed.of(group)
        claimed.cancelled += 1
        claimed.last = row
        cancel_waiting(self._session, row.id, group, reason, self._now)
        self.cancelled.append(row.id)
        self._session.hints |= topics.FINISHED

    def _write(self) -> None:
        self._claimed.write()
        self._admission.write()
        empty = [turn.group.id for turn in self._turns.values() if turn.empty]
        if empty:
            self._session.execute(CLAIMS.delete_fronts, (json_list(empty),))
        moved: list[int] = []
        for turn in self._turns.values():
            place = turn.moved_to()
            if place is not None:
                moved += (turn.group.id, *place)
        write_rows(self._session.connection, CLAIMS.many("move_fronts"), 4, moved)

    def _group(self, number: int) -> LimitGroup:
        return self._session.groups.get(self._session.connection, number)
