"""Origins: where the value of a setting came from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The places that a value can come from, each stronger than those before it."""

    DEFAULT = "default"
    CODE = "code"
    DOTENV = ".env"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """Where a value came from, and under which name it was given there."""

    level: Level
    name: str = ""

    def __str__(self) -> str:
        return f"{self.level} {self.name}" if self.name else str(self.level)


DEFAULT = SettingOrigin(Level.DEFAULT)
CODE = SettingOrigin(Level.CODE)
