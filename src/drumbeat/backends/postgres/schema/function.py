"""Functions of the schema: the current body of each in a file of its own, with a version.

The first line of a file is `-- version: N`. A change of the body raises N, so an older node sees
that a function in the database is newer than its own, and does not replace it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from drumbeat.backends.postgres.schema.migration import PACKAGE, checksum_of

_VERSION = re.compile(r"-- version: (\d+)\n")


@dataclass(frozen=True, slots=True)
class Function:
    """One function, with marks for the names of the namespace."""

    name: str
    script: str

    @property
    def version(self) -> int:
        match = _VERSION.match(self.script)
        assert match, f"the function {self.name} says its version in its first line"
        return int(match[1])

    @property
    def checksum(self) -> str:
        return checksum_of(self.script)


@cache
def known_functions() -> tuple[Function, ...]:
    """The functions of this version of Drumbeat, by name."""
    folder = files(PACKAGE).joinpath("functions")
    found = [
        Function(file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
        for file in _files_below(folder)
    ]
    return tuple(sorted(found, key=lambda function: function.name))


def _files_below(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files_below(entry)
        elif entry.name.endswith(".sql"):
            yield entry
