"""The watermark: where the next claim of a worker begins to scan the index of queued jobs.

A claim reads that index from its beginning. The entries of jobs that were claimed before are dead,
but stay until the next vacuum: for a minute as a rule, and for as long as an older transaction is
open, such as a backup or a forgotten session. Every claim steps over all of them, and so gets
slower with each job.

When a scan took far more effort than its jobs are worth, the next claims begin where it ended, in
each lane and rank. Jobs below that mark are found by a whole scan: when a claim above the marks
yields too few jobs, and otherwise now and then, so that whole scans take a tenth of the time. If a
single whole scan takes long, because a transaction was open for minutes, no claim waits for it: the
next one is due within a second or three times what it takes.

Effort is counted in index entries and not in time, so that a busy machine does not change who gets
which job. Until thousands of jobs were claimed between two vacuums, every scan is a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.store.time import instant_of
from drumbeat.ports.clock import Clock

CHEAP = 5_000
"""Effort that a whole scan may take in any case."""
CHEAP_PER_JOB = 4
"""Further effort that it may take for each job that it finds."""
DEAR = 1_000_000
"""Effort from which on too few jobs above the marks are no reason for a whole scan."""
SHARE = 10
"""Whole scans take at most 1/SHARE of the time."""
LONGEST_PAUSE = 1.0
"""Seconds after which a whole scan is due in any case."""
LARGEST_SHARE = 3
"""Whole scans never take more than 1/LARGEST_SHARE of the time."""


class ClaimMarks(NamedTuple):
    """The composite type `claim_marks`."""

    lanes: list[int]
    ranks: list[int]
    run_ats: list[datetime]
    ids: list[int]
    suffices: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """How the jobs of a claim were found."""

    whole: bool
    effort: int
    seconds: float
    short: bool
    """Whether it found fewer jobs than were wanted."""


class Watermark:
    """Where the claims of one worker ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._marks: dict[tuple[int, int], tuple[float, int]] = {}
        """By lane and rank: the run time and the id of the last job that was claimed."""
        self._whole_at = 0.0
        self._dear = False
        self.until_whole: float | None = None
        """Seconds until the next whole scan, if the last scan was not whole and was short."""

    def marks(self) -> ClaimMarks | None:
        """Where the next claim begins; None: at the beginning of the index."""
        if not self._marks or self._clock.elapsed() >= self._whole_at:
            return None
        marks = self._marks.values()
        return ClaimMarks(
            [lane for lane, _ in self._marks],
            [rank for _, rank in self._marks],
            [instant_of(seconds) for seconds, _ in marks],
            [job_id for _, job_id in marks],
            self._dear,
        )

    def learn(self, scan: Scan, jobs: Sequence[Record]) -> None:
        """Learn from the `claimed_job`s that a claim has found, and from its effort."""
        now = self._clock.elapsed()
        self.until_whole = None
        if scan.whole:
            if scan.effort <= CHEAP + CHEAP_PER_JOB * len(jobs):
                self._marks.clear()
                return
            self._dear = scan.effort >= DEAR
            pause = min(LONGEST_PAUSE, scan.seconds * SHARE)
            self._whole_at = now + max(pause, scan.seconds * LARGEST_SHARE)
        elif scan.short:
            self.until_whole = max(0.0, self._whole_at - now)
        for job in jobs:
            self._marks[job["lane"], job["rank"]] = (job["run_at"], job["id"])
