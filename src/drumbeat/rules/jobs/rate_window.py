"""Rates: when one more job may start.

A rate of N per period means that any window as long as the period, without its end, has at most N
starts. The rule keeps a log of the recent starts of each rate key. One more may start once the N-th
last start is a whole period ago. Up to N may start at once when the window is empty.

**The log is bounded.** It is exact up to `EXACT` entries. A longer one is compacted: starts in the
same 64th of a period become one entry, at the time of the last of them. A start may then be late by
up to a 64th of the period, and never early.

**Several rates may share a key**, for instance while a task's rate is being changed. Every start
counts for all of them, so the log reaches back for the longest of their periods. Entries that are
older than the period of the rate that starts a job are compacted by 64ths of the longest one.

**The clock may go back.** Starts that seem to lie in the future did happen, so they count as starts
of now. No rate waits longer than its own period, whatever the clock did.

PostgreSQL decides by the same rule in its own functions; `tests/backends/test_postgres_rates.py`
holds them to this one. Instants and lengths are whole microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from drumbeat.model.jobs.job import Rate
from drumbeat.model.time.instant import MICROSECOND

EXACT = 128
"""Entries that a log may have before it is compacted."""
PARTS = 64
"""Entries that a compacted log has for each period, or one more."""


@dataclass(frozen=True, slots=True)
class Starts:
    """The recent starts under one rate key: when, and how many at a time, oldest first."""

    times: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    kept_for: int = 0
    """The longest period of the rates that use the key."""

    @property
    def outdated_at(self) -> int:
        """From this instant on no rate that uses the key counts them."""
        return self.times[-1] + self.kept_for


NO_STARTS = Starts()


def opens_at(starts: Starts, rate: Rate) -> int | None:
    """The earliest instant at which one more job may start; None: at once."""
    room = rate.at_most
    for time, count in zip(reversed(starts.times), reversed(starts.counts), strict=True):
        room -= count
        if room <= 0:
            return time + rate.per // MICROSECOND
    return None


def as_of(starts: Starts, now: int) -> Starts:
    """The starts as of `now`, if the clock has gone back since."""
    times, counts = starts.times, starts.counts
    if not times or times[-1] <= now:
        return starts
    past = sum(time < now for time in times)
    return replace(starts, times=(*times[:past], now), counts=(*counts[:past], sum(counts[past:])))


def with_start(starts: Starts, rate: Rate, now: int) -> Starts:
    """The starts after one more, at `now`."""
    starts = as_of(starts, now)
    per = rate.per // MICROSECOND
    kept_for = max(starts.kept_for, per)
    times, counts = starts.times, starts.counts
    if times and times[-1] == now:
        counts = (*counts[:-1], counts[-1] + 1)
    else:
        times, counts = (*times, now), (*counts, 1)
    if times[0] <= now - kept_for:
        outdated = sum(time <= now - kept_for for time in times)
        times, counts = times[outdated:], counts[outdated:]
    starts = Starts(times, counts, kept_for)
    return starts if len(times) <= EXACT else _compacted(starts, per, now)


def _compacted(starts: Starts, per: int, now: int) -> Starts:
    fine, coarse = -(-per // PARTS), -(-starts.kept_for // PARTS)

    def part(entry: tuple[int, int]) -> tuple[bool, int]:
        recent = entry[0] > now - per
        return recent, entry[0] // (fine if recent else coarse)

    entries = zip(starts.times, starts.counts, strict=True)
    merged = [list(group) for _, group in groupby(entries, part)]
    return Starts(
        tuple(group[-1][0] for group in merged),
        tuple(sum(count for _, count in group) for group in merged),
        starts.kept_for,
    )
