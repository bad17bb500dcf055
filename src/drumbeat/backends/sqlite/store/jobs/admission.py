"""Admission: which limit groups may start a job, and which are parked by a limit or a rate.

A group whose first job may not start is *parked*: no claim looks at it before something has
changed. A group parked under a limit's key is opened again as jobs with that key end, one group for
each job, the best first. A group parked for a rate is opened when the rate lets a job start.

The invariant that loses no group: while a key has room, each lane that has groups parked under it
has at least one of them open. So whenever such a group is parked elsewhere or becomes empty, the
next one is opened (`open_next`).

A job's turn comes when its rate is open and none of its limits makes it wait. Then a reached limit
whose `on_conflict` is `cancel` or `skip` ends the job. If there are both, or an attempt of it has
failed, it is cancelled, since somebody may miss it.

Rates are decided by `drumbeat.rules.jobs.rate_window`, over a log of the recent starts of each key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import Moment
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import Place
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import CLAIMS
from drumbeat.model.encoding.document import rate_to_text
from drumbeat.model.jobs.job import Limit, OnConflict, Rate
from drumbeat.rules.jobs import rate_window
from drumbeat.rules.jobs.rate_window import NO_STARTS, Starts


class FrontRow(NamedTuple):
    """A limit group, by its first queued job."""

    lane: int
    at_most: int
    rank: int
    run_at: int
    id: int
    limit_group: int

    @property
    def place(self) -> Place:
        return Place(self.rank, self.run_at, self.id)


class Admission:
    """Decides about limit groups within one transaction."""

    def __init__(self, session: StoreSession) -> None:
        self._session = session
        self._starts: dict[str, Starts] = {}
        """By rate key, as far as they were read."""
        self._changed: set[str] = set()
        """Rate keys whose starts are not saved yet."""
        self._blocking: set[str] = set()
        """Keys and rates that have parked groups, as far as they were read."""

    def prepare(self, groups: Iterable[LimitGroup]) -> None:
        """Read what the decisions about these groups need, in few statements."""
        keys = {key for group in groups for key in group.keys}
        if keys:
            self._session.load_usage(json.dumps(list(keys)))
        parked = {_under_limit(key) for key in keys}
        parked |= {_under_rate(group.rate) for group in groups if group.rate is not None}
        if parked:
            rows = self._session.execute(CLAIMS.parked_anywhere, (json.dumps(list(parked)),))
            self._blocking.update(name for (name,) in rows)

    def reached(self, group: LimitGroup, on_conflict: OnConflict) -> Limit | None:
        """The first limit with this `on_conflict` that is reached, if one is."""
        for limit in group.limits:
            full = self._session.usage(limit.key) >= limit.at_most
            if full and limit.on_conflict is on_conflict:
                return limit
        return None

    def opens_at(self, rate: Rate, now: Moment) -> int | None:
        """When the rate lets a job start; None: now."""
        opens_at = rate_window.opens_at(self._starts_of(rate, now), rate)
        return None if opens_at is None or opens_at <= now.number else opens_at

    def start(self, group: LimitGroup, now: Moment) -> None:
        for key in group.keys:
            self._session.count_usage(key, 1)
        rate = group.rate
        if rate is not None:
            starts = rate_window.with_start(self._starts_of(rate, now), rate, now.number)
            self._starts[rate.key] = starts
            self._changed.add(rate.key)

    def write(self) -> None:
        for key in self._changed:
            starts = self._starts[key]
            values = (key, _to_text(starts), starts.outdated_at)
            self._session.execute(CLAIMS.save_starts, values)
        self._changed.clear()

    def end(self, groups: Iterable[LimitGroup]) -> None:
        """Count jobs that ended, one for each group given, and open groups that waited for room."""
        ended = [group for group in groups if group.keys]
        if not ended:
            return
        self.prepare(ended)
        for group in ended:
            for key in group.keys:
                self._session.count_usage(key, -1)
        for group in ended:
            for key in group.keys:
                for _ in self._open_under_limit(key):
                    self._session.hints |= topics.JOBS

    def park_at_limit(self, group: LimitGroup, place: Place, limit: Limit) -> None:
        under = _under_limit(limit.key)
        self._session.execute(CLAIMS.park, (under, limit.at_most, *place, group.id))

    def park_for_rate(self, group: LimitGroup, place: Place, rate: Rate, opens_at: int) -> None:
        under = _under_rate(rate)
        self._session.execute(CLAIMS.park, (under, 0, *place, group.id))
        self._await(group.lane, under, opens_at)

    def reopen(self, lanes: str, now: Moment) -> None:
        """Open one group of each rate whose time has come, in lanes that are given as JSON."""
        execute = self._session.execute
        values = {"lanes": lanes, "now": now.number}
        for lane, parked in execute(CLAIMS.openings_due, values).fetchall():
            execute(CLAIMS.delete_opening, (lane, parked))
            self._open_one(lane, parked)

    def open_next(self, group: LimitGroup, now: Moment) -> Iterator[FrontRow]:
        """The group started a job, was parked or is empty: open the next groups that have room."""
        for key in group.keys:
            yield from self._open_under_limit(key)
        rate = group.rate
        if rate is not None:
            yield from self._open_under_rate(group.lane, rate, now)

    def _open_under_limit(self, key: str) -> Iterator[FrontRow]:
        """Open the best parked group of each lane and limit that has room under the key."""
        under = _under_limit(key)
        if under not in self._blocking:
            return
        lane, at_most, found = -1, -1, False
        execute = self._session.execute
        while row := execute(CLAIMS.next_parked, (under, lane, at_most)).fetchone():
            front = FrontRow._make(row)
            lane, at_most, found = front.lane, front.at_most, True
            if self._session.usage(key) < at_most:
                execute(CLAIMS.unpark, (front.limit_group,))
                yield front
        if not found:
            self._blocking.discard(under)

    def _open_under_rate(self, lane: int, rate: Rate, now: Moment) -> Iterator[FrontRow]:
        under = _under_rate(rate)
        if under not in self._blocking:
            return
        execute = self._session.execute
        if execute(CLAIMS.awaited, (lane, under)).fetchone() is not None:
            return
        opens_at = self.opens_at(rate, now)
        if opens_at is None:
            yield from self._open_one(lane, under)
        elif execute(CLAIMS.next_parked_in_lane, (under, lane)).fetchone() is not None:
            self._await(lane, under, opens_at)

    def _open_one(self, lane: int, parked: str) -> list[FrontRow]:
        row = self._session.execute(CLAIMS.next_parked_in_lane, (parked, lane)).fetchone()
        if row is None:
            return []
        front = FrontRow._make(row)
        self._session.execute(CLAIMS.unpark, (front.limit_group,))
        return [front]

    def _await(self, lane: int, parked: str, opens_at: int) -> None:
        self._session.execute(CLAIMS.await_opening, (lane, parked, opens_at))
        self._session.openings = 1

    def _starts_of(self, rate: Rate, now: Moment) -> Starts:
        starts = self._starts.get(rate.key)
        if starts is None:
            row = self._session.execute(CLAIMS.starts, (rate.key,)).fetchone()
            saved = NO_STARTS if row is None else _from_text(row[0])
            starts = self._starts[rate.key] = rate_window.as_of(saved, now.number)
            if starts is not saved:  # the clock has gone back: save them as of the present clock
                self._changed.add(rate.key)
        return starts


def _under_limit(key: str) -> str:
    return f"limit:{key}"


def _under_rate(rate: Rate) -> str:
    return f"rate:{rate_to_text(rate)}"


def _to_text(starts: Starts) -> str:
    return json.dumps([starts.times, starts.counts, starts.kept_for], separators=(",", ":"))


def _from_text(text: str) -> Starts:
    times, counts, kept_for = json.loads(text)
    return Starts(tuple(times), tuple(counts), kept_for)
