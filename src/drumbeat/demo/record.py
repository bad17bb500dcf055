"""The record: what the handlers did, written by themselves and outside of Drumbeat.

One file per process, one line per run, each written by a single append. Only complete lines are
read: a process that is killed while it writes may leave a partial one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HandlerRun:
    """One run of a handler: of a tick, or of a numbered job."""

    what: str
    """The schedule's name and tick, or the job's number."""
    tick_at: datetime | None = None


class HandlerRecord:
    """A folder with one file of runs per process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def write(self, what: str, tick_at: datetime | None = None) -> None:
        """Record one run; survives anything but a crash of the machine."""
        if self._file is None:
            path = self._folder / f"{os.getpid()}.txt"
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        when = "" if tick_at is None else tick_at.isoformat()
        os.write(self._file, f"{what}\t{when}\n".encode())

    def read(self) -> list[HandlerRun]:
        return [
            HandlerRun(what, datetime.fromisoformat(when) if when else None)
            for path in sorted(self._folder.glob("*.txt"))
            for what, when in (line.split("\t") for line in path.read_text().split("\n")[:-1])
        ]
