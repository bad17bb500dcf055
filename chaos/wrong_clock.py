"""Skews the wall clock of a running process, by libfaketime.

Its elapsed time stays right, as on a machine whose wall clock is set.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LIBRARY = "libfaketimeMT.so.1"
PLACES = (Path("/usr/lib"), Path("/usr/local/lib"))
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where the library leaves its own


def find_library() -> Path | None:
    """The library, if it is installed."""
    for place in PLACES:
        for pattern in (f"*/faketime/{LIBRARY}", f"faketime/{LIBRARY}"):
            for path in place.glob(pattern):
                return path
    return None


def environment(library: Path, clock: Path) -> dict[str, str]:
    """The environment variables that make the clock of a process follow the file."""
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def set_clock(clock: Path, offset: float) -> None:
    """Set the clock to this many seconds from the right time; it follows within a second."""
    new = clock.with_suffix(".new")
    new.write_text(f"{offset:+g}\n", encoding="utf-8")
    new.replace(clock)  # atomic: a reader finds the old or the new content


def tidy_up(pid: int) -> None:
    """Remove the shared memory that the library leaves when its process is killed."""
    for name in (f"sem.faketime_sem_{pid}", f"faketime_shm_{pid}"):
        with suppress(FileNotFoundError):
            (SHARED_MEMORY / name).unlink()
