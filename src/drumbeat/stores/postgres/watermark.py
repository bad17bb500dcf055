"""The watermark: spares a claim the dead rows of those before it.

A claim reads an index from its beginning. The entries of jobs that were claimed before are dead,
and stay until the next vacuum: for a minute as a rule, and for as long as any transaction is open
that began earlier, such as a backup or somebody's forgotten session. Every claim steps over all of
them, and so gets slower with each job.

When a scan was a far larger effort than its jobs are worth, the next ones begin where it ended, in
each lane and rank. What may lie below is found by a whole scan: when the others yield too little,
and else every now and then, so that whole ones take a tenth of the time. Where even one of them
takes long, since somebody has held a transaction open for minutes, nobody waits for it: the next is
due within a second or three times what it takes.

What counts is the entries that were read and not the time it took, so that a busy machine does not
change who gets which job. Until thousands of jobs were claimed between two vacuums, every scan is a
whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drumbeat.ports.clock import Clock
from drumbeat.postgres.client import Record
from drumbeat.stores.postgres.instants import instant_of

CHEAP = 5_000
"""The effort that a scan may be in any case,"""
FOR_EACH = 4
"""and for each job that it finds."""
DEAR = 1_000_000
"""The effort from which on a scan that yields too little is no reason for a whole one."""
SHARE = 10
"""Whole scans take at most one part of so many of the time,"""
LONGEST = 1.0
"""but come at least after so many seconds,"""
LARGEST_SHARE = 3
"""unless they would then take more than one part of so few."""
WHOLE: Sequence[Any] = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Scan:
    """How a claim was made."""

    whole: bool
    effort: int
    seconds: float
    short: bool
    """Whether it found less than was wanted."""


class Watermark:
    """Where the claims of one worker ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._marks: dict[tuple[int, int], tuple[float, int]] = {}
        """By lane and rank: when the last job that was claimed was due, and its number."""
        self._whole_at = 0.0
        self._dear = False
        self.until_whole: float | None = None
        """Seconds until the next whole scan, if the last one was none and found too little."""

    def arrays(self) -> Sequence[Any]:
        """Where to begin in each lane and rank, all None: at the beginning; and whether to be
        content with what that yields.
        """
        if not self._marks or self._clock.elapsed() >= self._whole_at:
            return (*WHOLE, False)
        marks = self._marks.values()
        return (
            [lane for lane, _ in self._marks],
            [rank for _, rank in self._marks],
            [instant_of(seconds) for seconds, _ in marks],
            [number for _, number in marks],
            self._dear,
        )

    def learn(self, scan: Scan, rows: Sequence[Record]) -> None:
        """Take up what a claim has found, and what it has cost."""
        now = self._clock.elapsed()
        self.until_whole = None
        if scan.whole:
            if scan.effort <= CHEAP + FOR_EACH * len(rows):
                self._marks.clear()
                return
            self._dear = scan.effort >= DEAR
            pause = min(LONGEST, scan.seconds * SHARE)
            self._whole_at = now + max(pause, scan.seconds * LARGEST_SHARE)
        elif scan.short:
            self.until_whole = max(0.0, self._whole_at - now)
        for row in rows:
            self._marks[row[3], row[4]] = (row[5], row[0])
