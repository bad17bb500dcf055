"""Hunting: how many seeds it takes until each planted bug is found, and what finds it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from drumbeat.model.errors import ConfigurationError
from simulation import runs

WITHIN = 500
"""Seeds within which every planted bug has to be found."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """What came of the search for one planted bug."""

    bug: str
    seed: int | None
    """The first seed that found it; None: no seed did."""
    named: tuple[str, ...] = ()
    """The promises that were broken in its world."""
    expected: tuple[str, ...] = ()
    first: str = ""

    @property
    def caught(self) -> bool:
        """Whether it was found, and called by a name that was expected."""
        return bool(set(self.named) & set(self.expected))


def planted_in(folder: Path) -> list[Path]:
    """The files with planted bugs, by name."""
    files = sorted(folder.glob("*.py"))
    if not files:
        raise ConfigurationError(f"{folder} holds no planted bugs; name their folder with --bugs")
    return files


def hunt(file: Path, within: int = WITHIN) -> Hunt:
    """Run one seed after the other until the bug is found."""
    bug = runs.load(file)
    expected = tuple(sorted(bug.CAUGHT_BY))
    with bug.planted():
        for seed in range(within):
            _, _, broken = runs.simulate(seed, runs.store_of(bug))
            if broken:
                named = tuple(sorted({violation.invariant for violation in broken}))
                return Hunt(file.stem, seed, named, expected, str(broken[0]))
    return Hunt(file.stem, None, expected=expected)


def hunt_all(
    files: Sequence[Path], processes: int | None = None, within: int = WITHIN
) -> Iterator[Hunt]:
    """Search for all of them, several at a time; each as soon as it is found."""
    pool = runs.pool_of(processes or os.cpu_count() or 1)
    try:
        for done in as_completed([pool.submit(hunt, file, within) for file in files]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)
