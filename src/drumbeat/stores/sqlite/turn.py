"""Turns: how far a claim has come with one line that has limits or a rate."""

from __future__ import annotations

from drumbeat.stores.sqlite.admission import Place
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.rows import Row
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import CLAIMS

AT_ONCE = 2
"""Jobs of a line that are read together with those of others."""
MORE = 100
"""Jobs of a line that are read together once it turns out to have room for many."""


class Turn:
    """A line, and the jobs at its head that have been read already."""

    __slots__ = ("_all_read", "_front", "_jobs", "_next", "line", "over", "parked")

    def __init__(self, line: Line, front: Place, jobs: list[Row]) -> None:
        self.line = line
        self.parked = False
        """A limit or a rate holds it up: this claim is done with it."""
        self.over = False
        """It has no queued job left."""
        self._front = front
        self._jobs = jobs
        self._next = 0
        self._all_read = len(jobs) < AT_ONCE

    def first(self, session: StoreSession) -> Row | None:
        """Its first job that has not been taken."""
        if self._next == len(self._jobs) and not self._all_read:
            last = self._jobs[-1]
            self._jobs = session.execute(
                CLAIMS.next_of_line, (self.line.id, *last[:3], MORE)
            ).fetchall()
            self._next = 0
            self._all_read = len(self._jobs) < MORE
        return self._jobs[self._next] if self._next < len(self._jobs) else None

    def advance(self) -> None:
        """Its first job was taken."""
        self._next += 1

    def moved(self) -> Row | None:
        """Its first job, if that is another one than the tables have in front."""
        if self.parked or self.over or self._next >= len(self._jobs):
            return None
        row = self._jobs[self._next]
        return row if row[:3] != self._front else None
