"""Migrations: numbered changes of tables and types, each applied once and never changed again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from drumbeat.backends.sql.migration_files import BASELINE, read_migrations

PACKAGE = "drumbeat.backends.postgres.schema"
_DEPLOY = re.compile(r"-- deploy: (before|after)\n")


class Deploy(StrEnum):
    """When a migration may run."""

    BEFORE = "before"
    """It only adds, so it runs while older nodes still work: the first node to start applies it."""
    AFTER = "after"
    """It removes what older nodes need: a person applies it once the last of them has stopped."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One change of the schema, with marks for the names of the namespace."""

    version: int
    name: str
    script: str

    @property
    def deploy(self) -> Deploy:
        """From the first line of the script."""
        match = _DEPLOY.match(self.script)
        assert match, f"migration {self.version} says in its first line when it may run"
        return Deploy(match[1])

    @property
    def after(self) -> bool:
        """Whether a person has to apply it."""
        return self.deploy is Deploy.AFTER

    @property
    def checksum(self) -> str:
        return checksum_of(self.script)


def checksum_of(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


@cache
def known_migrations() -> tuple[Migration, ...]:
    """The migrations of this version of Drumbeat, in order."""
    numbered = [Migration(*each) for each in read_migrations(PACKAGE)]
    return (Migration(1, BASELINE, _baseline()), *numbered)


def _baseline() -> str:
    parts = [
        file.read_text(encoding="utf-8")
        for folder in ("types", "tables")
        for file in sorted(files(PACKAGE).joinpath(folder).iterdir(), key=lambda each: each.name)
    ]
    return "\n".join(["-- deploy: before", *parts])
