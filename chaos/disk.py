"""A small disk that can be filled up: a file system in memory for the file of a store.

Only root can mount one. Without root it is a plain folder, and a limit on the size of files makes
the writes of the processes fail, which SQLite reports as another error.
"""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from servers.closeable import Closeable
from servers.reaper import reaper

MEGABYTE = 2**20
LARGE_ENOUGH = 96 * MEGABYTE
FILLING = "filling"


class SmallDisk(Closeable):
    """A folder on a separate disk, if it can be mounted."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="drumbeat-disk-"))
        reaper.watch_folder(self.folder)
        size = f"size={LARGE_ENOUGH}"
        words = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(self.folder)]
        self.mounted = os.geteuid() == 0 and _succeeds(words)

    def close(self) -> None:
        if self.mounted:
            _succeeds(["umount", "--lazy", str(self.folder)])
        with suppress(OSError):
            self.folder.rmdir()
        reaper.forget_folder(self.folder)

    @property
    def path(self) -> Path:
        """The file of the store."""
        return self.folder / "fleet.db"

    def fill(self, processes: Iterable[int]) -> None:
        """Leave no free space; without a separate disk, only for these processes."""
        if self.mounted:
            _fill(self.folder / FILLING)
            return
        written = [path.stat().st_size for path in self.folder.glob(f"{self.path.name}*")]
        for pid in processes:
            _limit(pid, max(written, default=0))

    def free(self, processes: Iterable[int]) -> None:
        if self.mounted:
            (self.folder / FILLING).unlink(missing_ok=True)
            return
        for pid in processes:
            _limit(pid, resource.RLIM_INFINITY)


def _fill(path: Path) -> None:
    chunk = bytes(MEGABYTE)
    with path.open("wb", buffering=0) as file:
        while chunk:
            try:
                file.write(chunk)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                chunk = chunk[: len(chunk) // 2]


def _limit(pid: int, size: int) -> None:
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


def _succeeds(words: list[str]) -> bool:
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
