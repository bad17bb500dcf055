"""The protocol for the fleet's shared configuration."""

from __future__ import annotations

from typing import Any, Protocol

from drumbeat.wire.entry import EntryView

ABSENT = 0
"""The revision of a key that has no value."""


class FleetConfiguration(Protocol):
    """Small JSON values that the fleet shares. Drumbeat's own keys raise `UnknownKey`."""

    async def get(self, key: str) -> EntryView:
        """The value and its revision; `UnknownKey` if there is none."""
        ...

    async def put(
        self, key: str, value: Any, *, revision: int | None = None, reason: str = ""
    ) -> EntryView:
        """Write a value of at most 64 KiB as JSON.

        With a `revision` it is written only over that revision (`ABSENT`: only if there is no
        value), otherwise `RevisionMismatch` is raised.
        """
        ...

    async def delete(self, key: str, *, revision: int | None = None, reason: str = "") -> None:
        """Delete a value; `UnknownKey` if there is none, `RevisionMismatch` as for `put`."""
        ...
