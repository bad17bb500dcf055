"""Project settings: the dictionary `DRUMBEAT` in Django's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django.conf import settings

from drumbeat.config import SETTING, Settings
from drumbeat.django.database import is_postgresql, store_in
from drumbeat.model.errors import ConfigurationError

NAME = "DRUMBEAT"
ADDRESSES = ("store", "coordinator", "queue")
OWN = ("DATABASE", "INCLUDE", "TASKS_MODULE")
KNOWN = frozenset({*OWN, *(name.upper() for name in (*ADDRESSES, *Settings.__annotations__))})
"""The keys that the dictionary may have."""
STORES = tuple(name for name in ("store", "postgres_dsn", "mongodb_uri") if name in SETTING)
"""The settings that name a store."""


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What the dictionary says."""

    app: Mapping[str, Any]
    """The arguments of the app, by name."""
    include: Sequence[str] = ()
    """Modules to import."""
    tasks_module: str = "tasks"
    """The module of each installed app that declares its tasks; empty: none."""
    unknown: Sequence[str] = field(default=())
    """Keys that do not exist."""

    @classmethod
    def read(cls) -> ProjectSettings:
        """The settings of the project; `ConfigurationError` if they are no dictionary."""
        given: object = getattr(settings, NAME, {})
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"{NAME} must be a dictionary of settings, not {given!r}")
        by_key = cast("Mapping[str, Any]", given)
        app = {
            key.lower(): value for key, value in by_key.items() if key in KNOWN and key not in OWN
        }
        if "DATABASE" in by_key and "store" in app:
            raise ConfigurationError(f"{NAME} gives STORE and DATABASE; remove one of them")
        database = by_key.get("DATABASE")
        if database is not None:
            app["store"] = store_in(str(database))
        elif not any(app.get(name) for name in STORES) and is_postgresql("default"):
            app["store"] = store_in("default")
        return cls(
            app,
            by_key.get("INCLUDE", ()),
            by_key.get("TASKS_MODULE", "tasks") or "",
            sorted(set(by_key) - KNOWN),
        )
