"""Measures how many seeds it takes to find each planted bug, and which promise finds it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from drumbeat.model.errors import ConfigurationError
from simulation import seed_runs

WITHIN = 500
"""Seeds within which every planted bug has to be found."""


@dataclass(frozen=True, slots=True)
class BugSearch:
    """The result of the search for one planted bug."""

    bug: str
    seed: int | None
    """The first seed that found it; None: no seed did."""
    named: tuple[str, ...] = ()
    """The promises that its world broke."""
    expected: tuple[str, ...] = ()
    first: str = ""

    @property
    def caught(self) -> bool:
        """Whether it was found, by a promise that was expected to break."""
        return bool(set(self.named) & set(self.expected))


def planted_bugs_in(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.py"))
    if not files:
        raise ConfigurationError(f"{folder} holds no planted bugs; name their folder with --bugs")
    return files


def search(file: Path, within: int = WITHIN) -> BugSearch:
    """Simulate one seed after the other until the bug is found."""
    bug = seed_runs.load(file)
    expected = tuple(sorted(bug.CAUGHT_BY))
    with bug.planted():
        for seed in range(within):
            _, _, broken = seed_runs.simulate(seed, seed_runs.store_of(bug))
            if broken:
                named = tuple(sorted({violation.invariant for violation in broken}))
                return BugSearch(file.stem, seed, named, expected, str(broken[0]))
    return BugSearch(file.stem, None, expected=expected)


def search_all(
    files: Sequence[Path], processes: int | None = None, within: int = WITHIN
) -> Iterator[BugSearch]:
    """Search for all bugs in parallel; each result comes as soon as it is known."""
    pool = seed_runs.pool_of(processes or os.cpu_count() or 1)
    try:
        for done in as_completed([pool.submit(search, file, within) for file in files]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)
