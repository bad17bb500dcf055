"""Admission: limits and rates, and how the lines that they hold up are kept out of sight.

A line whose first job may not start is *parked*: no claim looks at it before something has changed.
What is parked under a limit's key comes back as jobs with that key end, one line for each, the best
first; what is parked for a rate comes back when the rate lets one start.

The invariant that keeps anything from being forgotten: while a key has room, each lane that has
lines parked under it has at least one of them open. So whenever such a line is parked elsewhere or
runs empty, the next one is let in (`replace`).

A job's turn comes when nothing makes it wait: its rate is open, and so is every limit that it
waits for. Only then may a limit whose `on_conflict` is `cancel` end it.

Rates are decided by `drumbeat.rules.rate_limiting`, over a log of the recent starts of each key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from drumbeat.model.document import rate_to_text
from drumbeat.model.job import Limit, OnConflict, Rate
from drumbeat.rules import rate_limiting
from drumbeat.rules.rate_limiting import NO_STARTS, Starts
from drumbeat.sqlite.news import JOBS as JOBS_NEWS
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import CLAIMS

Place: TypeAlias = tuple[int, int, int]
"""Rank, `run_at` and number of a job: the order of a line."""
LetIn: TypeAlias = tuple[int, Place, int]
"""A line that was let in: its lane, the place of its first job, its number."""


class Admission:
    """Judges lines within one transaction."""

    def __init__(self, session: StoreSession) -> None:
        self._session = session
        self._starts: dict[str, Starts] = {}
        """By rate key, as far as they were looked for."""
        self._changed: set[str] = set()
        """Rate keys whose starts are not written yet."""
        self._crowded: set[str] = set()
        """Keys and rates that hold anything up, as far as they were looked for."""

    def prepare(self, lines: Iterable[Line]) -> None:
        """Get ready to judge these lines, in few statements."""
        keys = {key for line in lines for key in line.keys}
        if keys:
            self._session.load_holdings(json.dumps(list(keys)))
        self.look_for(
            {_under_limit(key) for key in keys}
            | {_under_rate(line.rate) for line in lines if line.rate is not None}
        )

    def look_for(self, parked: set[str]) -> None:
        """Find out which of some keys and rates hold anything up."""
        if parked:
            rows = self._session.execute(CLAIMS.parked_anywhere, (json.dumps(list(parked)),))
            self._crowded.update(name for (name,) in rows)

    def reached(self, line: Line, on_conflict: OnConflict) -> Limit | None:
        """The first limit with this answer to a conflict that is reached, if one is."""
        for limit in line.limits:
            full = self._session.holding(limit.key) >= limit.at_most
            if full and limit.on_conflict is on_conflict:
                return limit
        return None

    def room(self, line: Line) -> int:
        """How many jobs of the line might start, as far as its limits go."""
        rooms = [limit.at_most - self._session.holding(limit.key) for limit in line.limits]
        return min(rooms) if rooms else 2**31

    def opens_at(self, rate: Rate, now: Moment) -> int | None:
        """When the rate lets a job start; None: now."""
        opens_at = rate_limiting.opens_at(self._starts_of(rate, now), rate)
        return None if opens_at is None or opens_at <= now.number else opens_at

    def start(self, line: Line, now: Moment) -> None:
        """Count a job that starts, and spend its rate."""
        for key in line.keys:
            self._session.hold(key, 1)
        rate = line.rate
        if rate is not None:
            starts = rate_limiting.with_start(self._starts_of(rate, now), rate, now.number)
            self._starts[rate.key] = starts
            self._changed.add(rate.key)

    def write(self) -> None:
        """Keep the starts under rates that are not written yet."""
        for key in self._changed:
            starts = self._starts[key]
            values = (key, _to_text(starts), starts.outdated_at)
            self._session.execute(CLAIMS.keep_starts, values)
        self._changed.clear()

    def end(self, lines: Iterable[Line]) -> None:
        """Count jobs that ended, one for each line given, and let in what waited for their room."""
        ended = [line for line in lines if line.keys]
        if not ended:
            return
        self.prepare(ended)
        for line in ended:
            for key in line.keys:
                self._session.hold(key, -1)
        for line in ended:
            for key in line.keys:
                for _ in self.let_in(key):
                    self._session.news |= JOBS_NEWS

    def park_at_limit(self, line: Line, place: Place, limit: Limit) -> None:
        """Keep a line out of sight until a job with the key ends."""
        under = _under_limit(limit.key)
        self._session.execute(CLAIMS.park, (under, limit.at_most, *place, line.id))

    def park_for_rate(self, line: Line, place: Place, rate: Rate, opens_at: int) -> None:
        """Keep a line out of sight until the rate lets a job start."""
        under = _under_rate(rate)
        self._session.execute(CLAIMS.park, (under, 0, *place, line.id))
        self._await(line.lane, under, opens_at)

    def reopen(self, lanes: str, now: Moment) -> None:
        """Let in one line of each rate whose time has come, in lanes that are given as JSON."""
        execute = self._session.execute
        values = {"lanes": lanes, "now": now.number}
        for lane, parked in execute(CLAIMS.openings_due, values).fetchall():
            execute(CLAIMS.delete_opening, (lane, parked))
            self._let_in_one(lane, parked)

    def replace(self, line: Line, now: Moment) -> Iterator[LetIn]:
        """A line has started a job or is out of the way: let in the next ones that have room."""
        for key in line.keys:
            yield from self.let_in(key)
        rate = line.rate
        if rate is not None:
            yield from self._replace_under_rate(line.lane, rate, now)

    def let_in(self, key: str) -> Iterator[LetIn]:
        """Open the best parked line of each lane and number that has room under the key."""
        under = _under_limit(key)
        if under not in self._crowded:
            return
        lane, at_most, found = -1, -1, False
        execute = self._session.execute
        while row := execute(CLAIMS.next_parked, (under, lane, at_most)).fetchone():
            lane, at_most, found = row[0], row[1], True
            if self._session.holding(key) < at_most:
                execute(CLAIMS.unpark, (row[5],))
                yield lane, row[2:5], row[5]
        if not found:
            self._crowded.discard(under)

    def _replace_under_rate(self, lane: int, rate: Rate, now: Moment) -> Iterator[LetIn]:
        under = _under_rate(rate)
        if under not in self._crowded:
            return
        execute = self._session.execute
        if execute(CLAIMS.awaited, (lane, under)).fetchone() is not None:
            return
        opens_at = self.opens_at(rate, now)
        if opens_at is None:
            yield from self._let_in_one(lane, under)
        elif execute(CLAIMS.next_parked_in_lane, (under, lane)).fetchone() is not None:
            self._await(lane, under, opens_at)

    def _let_in_one(self, lane: int, parked: str) -> list[LetIn]:
        row = self._session.execute(CLAIMS.next_parked_in_lane, (parked, lane)).fetchone()
        if row is None:
            return []
        self._session.execute(CLAIMS.unpark, (row[3],))
        return [(lane, row[:3], row[3])]

    def _await(self, lane: int, parked: str, opens_at: int) -> None:
        self._session.execute(CLAIMS.await_opening, (lane, parked, opens_at))
        self._session.openings = 1

    def _starts_of(self, rate: Rate, now: Moment) -> Starts:
        """The recent starts under the rate's key."""
        starts = self._starts.get(rate.key)
        if starts is None:
            starts = self._kept_starts(rate, now)
            seen = rate_limiting.as_of(starts, now.number)
            if seen is not starts:  # the clock has gone back: from now on it is judged by this one
                self._changed.add(rate.key)
            starts = self._starts[rate.key] = seen
        return starts

    def _kept_starts(self, rate: Rate, now: Moment) -> Starts:
        row = self._session.execute(CLAIMS.starts, (rate.key,)).fetchone()
        if row is not None:
            return _from_text(row[0])
        row = self._session.execute(CLAIMS.pace, (rate.key,)).fetchone()
        return NO_STARTS if row is None else rate_limiting.from_pace(row[0], rate, now.number)


def _under_limit(key: str) -> str:
    return f"limit:{key}"


def _under_rate(rate: Rate) -> str:
    return f"rate:{rate_to_text(rate)}"


def _to_text(starts: Starts) -> str:
    return json.dumps([starts.times, starts.counts, starts.kept_for], separators=(",", ":"))


def _from_text(text: str) -> Starts:
    times, counts, kept_for = json.loads(text)
    return Starts(tuple(times), tuple(counts), kept_for)
