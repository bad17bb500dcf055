"""The reaper kills servers and removes their folders when their owner has died.

It is a separate process that reads orders from a pipe. Only the owner holds the other end, so the
pipe ends with the owner, even after `kill -9`. Then the reaper kills and removes everything that is
still registered.
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
    """The owner's end of the pipe. The first order starts the process at the other end."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._orders: IO[str] | None = None
        os.register_at_fork(after_in_child=self._close_in_child)

    def watch_process(self, pid: int) -> None:
        """Kill the process and its descendants when the owner dies."""
        self._order(f"+process {pid}")

    def forget_process(self, pid: int) -> None:
        """Unregister a process that has ended, since its id may be reused."""
        self._order(f"-process {pid}")

    def watch_folder(self, folder: Path) -> None:
        """Remove the folder when the owner dies."""
        self._order(f"+folder {folder}")

    def forget_folder(self, folder: Path) -> None:
        """Unregister a folder that has been removed."""
        self._order(f"-folder {folder}")

    def _order(self, line: str) -> None:
        with self._lock:
            if self._orders is None:
                self._orders = _start()
            self._orders.write(line + "\n")
            self._orders.flush()

    def _close_in_child(self) -> None:
        """Close the pipe in a forked child, which would keep it open when the owner dies."""
        self._lock = Lock()
        if self._orders is not None:
            self._orders.close()
            self._orders = None


def _start() -> IO[str]:
    reading, writing = os.pipe()
    with os.fdopen(reading) as source:
        process = subprocess.Popen(
            [sys.executable, "-m", "servers.reaper_process"],
            stdin=source,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            cwd="/",
            start_new_session=True,  # Ctrl-C must not reach it
        )
    process.returncode = 0  # it outlives the owner on purpose, so nothing waits for it
    return os.fdopen(writing, "w", encoding="utf-8")


reaper = Reaper()
"""The reaper of this process."""
