"""Settings: one row each in the table that drives reading, checking, showing and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drumbeat.config.kinds import Kind

PREFIX = "DRUMBEAT_"
FROM_FILE = "_FILE"
_ROW = "setting"


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of a setting, beside its name and its default."""

    kind: Kind
    meaning: str
    plain: tuple[str, ...] = ()
    """Names without the prefix under which the environment may give it."""
    secret: bool = False
    """Its value may hold a password: it is shown masked, and can be given as a file."""
    option: str | None = ""
    """Its option on the command line, if it is not named after it; None if it has none."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, its default, and its row of the table."""

    name: str
    default: object
    row: Row

    @property
    def variables(self) -> tuple[str, ...]:
        """Its names in the environment, the strongest first."""
        prefixed = (f"{PREFIX}{name}" for name in (self.name.upper(), *self.row.plain))
        return tuple(dict.fromkeys((*prefixed, *self.row.plain)))

    @property
    def option(self) -> str | None:
        """Its option on the command line."""
        named = self.row.option
        return f"--{self.name.replace('_', '-')}" if named == "" else named


def setting(row: Row) -> Mapping[str, Row]:
    """The row as the metadata of a field."""
    return {_ROW: row}


def row_of(metadata: Mapping[str, object]) -> Row | None:
    """The row in the metadata of a field, if the field is a setting."""
    row = metadata.get(_ROW)
    return row if isinstance(row, Row) else None
