"""The reaper: ends the servers, and removes their folders, when their owner has died.

It is a process of its own that reads orders from a pipe. Only the owner holds the other end, so
the pipe ends when the owner does, however that came about; `kill -9` included. What is still
registered then is killed and removed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import IO

ROOT = Path(__file__).parents[1]


class Reaper:
    """The owner's end of the pipe. The process at the other end starts with the first order."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._orders: IO[str] | None = None
        os.register_at_fork(after_in_child=self._let_go)

    def watch_process(self, pid: int) -> None:
        """Kill the process, and all that descend from it, when the owner dies."""
        self._order(f"+process {pid}")

    def forget_process(self, pid: int) -> None:
        """The process has ended; its number may soon mean another."""
        self._order(f"-process {pid}")

    def watch_folder(self, folder: Path) -> None:
        """Remove the folder when the owner dies."""
        self._order(f"+folder {folder}")

    def forget_folder(self, folder: Path) -> None:
        """The folder has been removed."""
        self._order(f"-folder {folder}")

    def _order(self, line: str) -> None:
        with self._lock:
            if self._orders is None:
                self._orders = _start()
            self._orders.write(line + "\n")
            self._orders.flush()

    def _let_go(self) -> None:
        """A forked child holds the pipe too: it must not keep it open when the owner dies."""
        self._lock = Lock()
        if self._orders is not None:
            self._orders.close()
            self._orders = None


def _start() -> IO[str]:
    reading, writing = os.pipe()
    with os.fdopen(reading) as source:
        reaping = subprocess.Popen(
            [sys.executable, "-m", "servers.reaping"],
            stdin=source,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the owner alone
        )
    reaping.returncode = 0  # it outlives us on purpose: nobody waits for it
    return os.fdopen(writing, "w", encoding="utf-8")


reaper = Reaper()
"""The reaper of this process."""
