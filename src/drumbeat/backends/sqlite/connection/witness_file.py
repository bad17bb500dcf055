"""The witness file: a file beside the database in which each process locks one byte.

The locks belong to the open file description (`F_OFD_SETLK`), and so to one session and not to the
process: SQLite's own locks are of the other kind, which end when any descriptor of their file is
closed, so this file is never the database itself. The kernel frees a lock at once when the process
ends, however that happens. A process that is stopped keeps it.

A forked child inherits the description, and would hold the lock after its parent has died. So a
child closes its copy, which leaves the parent's lock alone; a program that is started has none,
since descriptors are closed when it is executed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from drumbeat.backends.sqlite.connection.file.permissions import FILE
from drumbeat.forks import renew_in_children
from drumbeat.model.errors import Unavailable

_SET = getattr(fcntl, "F_OFD_SETLK", None)
_GET = getattr(fcntl, "F_OFD_GETLK", None)
AVAILABLE = _SET is not None and _GET is not None
"""Whether this system has locks of open file descriptions."""
_FLOCK = struct.Struct("@hhqqi4x")
"""`struct flock`: kind, whence, start, length, and a process that has to be 0."""
_TAKEN = frozenset({errno.EAGAIN, errno.EACCES})


class WitnessFile:
    """The file, by its path. It is created when the first witness is taken."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}-witnesses")

    def free(self, numbers: Sequence[int]) -> frozenset[int]:
        """Which of the numbers nobody holds. If there is no file, nothing is known: none."""
        assert _GET is not None
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return frozenset()
        try:
            return frozenset(number for number in numbers if self._is_free(handle, number))
        finally:
            os.close(handle)

    def _is_free(self, handle: int, number: int) -> bool:
        assert _GET is not None
        found = fcntl.fcntl(handle, _GET, _lock(number))
        kind, *_ = _FLOCK.unpack(found)
        return bool(kind == fcntl.F_UNLCK)


class FileWitness:
    """One open description of the file, and the byte that it has locked."""

    def __init__(self, file: WitnessFile) -> None:
        self.file = file
        self._handle = -1
        renew_in_children(self._renew)

    async def take(self, number: int) -> bool:
        """Lock the byte of this number."""
        assert _SET is not None
        try:
            if self._handle < 0:
                self._handle = os.open(self.file.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE)
            fcntl.fcntl(self._handle, _SET, _lock(number))
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise Unavailable(f"{self.file.path} cannot be locked: {error.strerror}") from error
        return True

    async def prove(self) -> None:
        """The lock lasts as long as the description; others must still find it by the path."""
        try:
            found, ours = self.file.path.stat(), os.fstat(self._handle)
        except OSError as error:
            raise Unavailable(f"{self.file.path} is gone: {error.strerror}") from error
        if (found.st_dev, found.st_ino) != (ours.st_dev, ours.st_ino):
            raise Unavailable(f"{self.file.path} was replaced by another file")

    async def close(self) -> None:
        self.free()

    def free(self) -> None:
        """Close the file, which frees the byte."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with suppress(OSError):
                os.close(handle)

    def _renew(self) -> None:
        """In a forked child: close the copy. The parent's lock stays."""
        self.free()


def _lock(number: int) -> bytes:
    return _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0)
