"""Migration files: a schema is its baseline, and then numbered files that change it.

The baseline, version 1, is the files in `tables`, one for each noun, in the order that the backend
gives. Later versions are files in `migrations` named like `0002_add_colour.sql`. A file is never
changed once it was released: databases keep its checksum, and a changed one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
BASELINE = "baseline"


def read_baseline(package: str, tables: Sequence[str]) -> str:
    """The script that makes all tables of the baseline."""
    folder = files(package).joinpath("tables")
    found = {file.name.removesuffix(".sql") for file in folder.iterdir()}
    assert found == set(tables), "every file of tables is in the baseline"
    return "\n".join(folder.joinpath(f"{name}.sql").read_text(encoding="utf-8") for name in tables)


def read_migrations(package: str) -> list[tuple[int, str, str]]:
    """Version, name and script of each numbered migration, in order."""
    folder = files(package).joinpath("migrations")
    found: list[tuple[int, str, str]] = []
    for file in folder.iterdir() if folder.is_dir() else ():
        match = _FILE.fullmatch(file.name)
        if match:
            found.append((int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found)
