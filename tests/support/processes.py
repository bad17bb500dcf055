"""Processes whose output is read line by line."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass, field
from queue import Queue
from threading import Thread

PATIENCE = 90.0
"""The longest wait for a line or for the end, in seconds."""


@dataclass
class Node:
    """A running process, whose output lines can be awaited."""

    process: subprocess.Popen[str]
    lines: Queue[str | None] = field(default_factory=Queue[str | None])
    seen: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.reading = Thread(target=self._read, daemon=True)
        self.reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout:
            for line in self.process.stdout:
                self.lines.put(line)
        self.lines.put(None)

    def says(self, words: str, times: int = 1) -> None:
        """Wait until a line with these words has come, this many times."""
        while times:
            line = self.lines.get(timeout=PATIENCE)
            assert line is not None, f"it ended without saying {words!r}: {self.seen}"
            self.seen.append(line)
            times -= words in line

    def says_all(self, *words: str) -> None:
        """Wait until each of these words has come, in any order."""
        left = set(words)
        while left:
            line = self.lines.get(timeout=PATIENCE)
            assert line is not None, f"it ended without saying {left}: {self.seen}"
            self.seen.append(line)
            left = {each for each in left if each not in line}

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        return self.process.wait(PATIENCE)
