"""The fleet's shared configuration, the settings of a server and its tasks, on the wire."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from drumbeat.model.fleet.lease import Entry
from drumbeat.wire.fields import Json
from drumbeat.wire.parameters import Parameters
from drumbeat.wire.values import raw


class EntryView(Struct, frozen=True, kw_only=True):
    """A value that the fleet shares."""

    key: str
    value: Json
    revision: int
    """The number of its last write; `If-Match` takes it."""


class NewEntryView(Parameters, kw_only=True):
    """A value to share."""

    value: Any
    """Any JSON of at most 64 KiB."""


class SettingView(Struct, frozen=True, kw_only=True):
    """A setting of the server that answers."""

    value: str | int | bool | None
    """Secrets are masked."""
    origin: str
    """Where the value came from."""
    variable: str
    """The environment variable that sets it."""


def entry_view(entry: Entry) -> EntryView:
    return EntryView(key=entry.key, value=raw(entry.value), revision=entry.revision)
