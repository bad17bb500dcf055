"""A mutant, and the catalogue that lists them all."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CATALOGUE = Path(__file__).with_name("catalogue")


class InvalidMutant(Exception):
    """A mutant that cannot be planted: its text is gone from the source, or is not unique."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One bug: the source text to replace, and the tests that have to find it."""

    name: str
    """What goes wrong, as a sentence."""
    file: str
    """The source file, relative to the root of the project."""
    find: str
    replace: str
    tests: tuple[str, ...]
    """Arguments for pytest: files or single tests."""

    def plant(self, source: str) -> str:
        """The source with the bug; `InvalidMutant` unless the text occurs once."""
        count = source.count(self.find)
        if count != 1:
            raise InvalidMutant(
                f"mutant {self.name!r}: its `find` text occurs {count} times in {self.file}, "
                f"expected once; update the catalogue"
            )
        return source.replace(self.find, self.replace)


def read_catalogue(folder: Path = CATALOGUE) -> Sequence[Mutant]:
    """All mutants, by file and in the order of the files."""
    return [
        Mutant(entry["name"], entry["file"], entry["find"], entry["replace"], tuple(entry["tests"]))
        for path in sorted(folder.glob("*.toml"))
        for entry in tomllib.loads(path.read_text())["mutant"]
    ]
