"""Settings: one row each in the table that drives reading, checking, showing and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drumbeat.config.kinds import SettingKind

PREFIX = "DRUMBEAT_"
FROM_FILE = "_FILE"
_ROW = "setting"


@dataclass(frozen=True, slots=True)
class SettingRow:
    """What the table says of a setting, beside its name and its default."""

    kind: SettingKind
    meaning: str
    plain: tuple[str, ...] = ()
    """Environment variables without the prefix that may give it."""
    secret: bool = False
    """Whether it may hold a password: it is shown masked, and can be given as a file."""
    option: str | None = ""
    """Its command-line option, if it differs from its name; None: it has none."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, its default, and its row of the table."""

    name: str
    default: object
    row: SettingRow

    @property
    def variables(self) -> tuple[str, ...]:
        """Its environment variables, the strongest first."""
        prefixed = (f"{PREFIX}{name}" for name in (self.name.upper(), *self.row.plain))
        return tuple(dict.fromkeys((*prefixed, *self.row.plain)))

    @property
    def option(self) -> str | None:
        named = self.row.option
        return f"--{self.name.replace('_', '-')}" if named == "" else named


def setting(row: SettingRow) -> Mapping[str, SettingRow]:
    return {_ROW: row}


def row_of(metadata: Mapping[str, object]) -> SettingRow | None:
    """The row in a field's metadata; None if the field is not a setting."""
    row = metadata.get(_ROW)
    return row if isinstance(row, SettingRow) else None
