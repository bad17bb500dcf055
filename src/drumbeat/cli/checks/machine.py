"""A check of `drumbeat doctor`, and those of this machine, which need no store."""

from __future__ import annotations

import platform
import sqlite3
import sys
from dataclasses import dataclass

from drumbeat.config import LoadedSettings, Sources
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.time.zones import zone
from drumbeat.version import VERSION

OLDEST_SQLITE = (3, 37, 0)
"""The first version with both RETURNING and STRICT tables."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, whether it is in order, and what was found."""

    name: str
    ok: bool
    found: str


def machine_checks() -> list[Check]:
    return [_python(), _sqlite(), _zones(), _settings()]


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    return Check("python", ok, f"{platform.python_version()}, Drumbeat {VERSION}")


def _sqlite() -> Check:
    ok = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    wanted = "" if ok else f"; {'.'.join(map(str, OLDEST_SQLITE))} is needed"
    return Check("sqlite", ok, f"{sqlite3.sqlite_version}{wanted}")


def _zones() -> Check:
    try:
        zone("Europe/Paris")
    except DrumbeatError as error:
        return Check("time zones", ok=False, found=f"{error}; install the package tzdata")
    return Check("time zones", ok=True, found="the IANA database is there")


def _settings() -> Check:
    loaded = LoadedSettings.of(Sources.of_this_process({}))
    faults = [*loaded.faults, *loaded.unknown]
    return Check("settings", not faults, "; ".join(faults) or "all of them can be read")
