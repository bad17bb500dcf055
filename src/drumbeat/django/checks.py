"""System checks of the settings: `manage.py check` reports them, and most commands run them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error

from drumbeat.config import Config
from drumbeat.config.mask import masked
from drumbeat.django.project_settings import KNOWN, NAME, ProjectSettings
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError

DRIVERS = (
    ("postgres", "postgres", "asyncpg"),
    ("redis", "redis", "redis"),
    ("etcd", "etcd", "aiohttp"),
    ("http", "consul", "aiohttp"),
)
"""How an address begins, the extra that it needs, and the package of that extra."""


def check_settings(**_: Any) -> Sequence[CheckMessage]:
    """Everything that is wrong with the settings, and what may surprise."""
    return [*_found()]


def _found() -> Iterator[CheckMessage]:
    try:
        project = ProjectSettings.read()
        for key in project.unknown:
            near = difflib.get_close_matches(key.upper(), KNOWN, 1)
            yield Error(
                f"{NAME} has an unknown key {key!r}.",
                hint=f"Did you mean {near[0]!r}?"
                if near
                else f"Known: {', '.join(sorted(KNOWN))}.",
                id="drumbeat.E002",
            )
        config = Config.load(project.app)
    except ConfigurationError as error:
        for line in str(error).splitlines():
            yield Error(f"{NAME}: {masked(line)}", id="drumbeat.E001")
        return
    yield from _drivers(config)
    yield from _store(config)


def _drivers(config: Config) -> Iterator[CheckMessage]:
    addresses = [str(getattr(config, part) or "") for part in ("store", "coordinator", "queue")]
    for scheme, extra, package in DRIVERS:
        if any(each.startswith(scheme) for each in addresses) and find_spec(package) is None:
            yield Error(
                f"{NAME} needs the extra {extra!r}, which is not installed.",
                hint=f"Run: {install_command(extra)}",
                id="drumbeat.E004",
            )


def _store(config: Config) -> Iterator[CheckMessage]:
    store = config.store
    if store is None:
        yield Error(
            f"{NAME} names no store, and the default database is not on PostgreSQL.",
            hint=f"Set {NAME} = {{'STORE': 'sqlite:///drumbeat.db'}}, or DRUMBEAT_STORE.",
            id="drumbeat.E003",
        )
    elif store.startswith("memory:") and not settings.DEBUG:
        yield checks.Warning(
            f"{NAME} keeps jobs in the memory of each process (memory://).",
            hint="`manage.py drumbeat run` does not see what the web processes submit, and a "
            "restart loses it. Name a store that processes share.",
            id="drumbeat.W001",
        )
    elif store.startswith("memory:"):
        yield checks.Warning(
            f"{NAME} keeps jobs in the memory of each process (memory://), also with DEBUG.",
            hint="`manage.py drumbeat run` does not see what `runserver` submits. "
            "'sqlite:///drumbeat.db' needs no server.",
            id="drumbeat.W001",
        )
    elif store.startswith("sqlite:") and _path_of(store) in _databases():
        yield Error(
            f"{NAME} keeps the store in the SQLite file of a Django database.",
            hint="Give the store a file of its own, such as 'sqlite:///drumbeat.db'.",
            id="drumbeat.E005",
        )


def _path_of(store: str) -> Path:
    return Path(store.removeprefix("sqlite:///").partition("?")[0]).absolute()


def _databases() -> set[Path]:
    return {
        Path(str(database["NAME"])).absolute()
        for database in settings.DATABASES.values()
        if str(database.get("ENGINE", "")).endswith("sqlite3")
    }
