"""The journals, in which nodes record what they observed and did, independently of Drumbeat.

Each process has one file, and each record is one line, written by a single append. Only complete
lines are read: the end of a line that crosses a memory page may arrive later than its beginning, or
never if the process is killed. Instants are the machine's elapsed time, which a skewed wall clock
does not change, so the records of all processes can be compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drumbeat.engine.plumbing.runtime import SystemClock

SUFFIX = ".journal"

_clock = SystemClock()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a journal."""

    node: str
    at: float
    kind: str
    facts: dict[str, Any]


class Journal:
    """The journal of one process."""

    def __init__(self, folder: Path, label: str) -> None:
        self._path = folder / f"{label}.{os.getpid()}{SUFFIX}"
        self._file: int | None = None

    def write(self, kind: str, **facts: object) -> None:
        """Append a record, which survives everything except a crash of the machine."""
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._file = os.open(self._path, flags, 0o600)
        line = json.dumps([round(_clock.elapsed(), 6), kind, facts], separators=(",", ":"))
        os.write(self._file, line.encode() + b"\n")


def read_journals(folder: Path) -> list[Entry]:
    """The records of all processes, in the order of time."""
    return sorted(_entries(folder), key=lambda entry: entry.at)


def whole_lines(path: Path) -> list[str]:
    """The complete lines of a file that another process writes."""
    return path.read_bytes().decode("utf-8", errors="replace").split("\n")[:-1]


def _entries(folder: Path) -> Iterator[Entry]:
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        label = path.name.split(".")[0]
        for line in whole_lines(path):
            at, kind, facts = json.loads(line)
            yield Entry(label, at, kind, facts)
