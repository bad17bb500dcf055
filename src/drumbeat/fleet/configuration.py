"""The protocol for the fleet's shared configuration."""

from __future__ import annotations

from typing import Any, Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.entry import EntryView, NewEntryView

ABSENT = 0
"""The revision of a key that has no value."""


class FleetConfiguration(Protocol):
    """Small JSON values that the fleet shares. Drumbeat's own keys raise `UnknownKey`."""

    @endpoint("GET /configuration/{key}", "Show a shared value")
    async def get(self, key: str) -> EntryView:
        """The value and its revision; `UnknownKey` if there is none."""
        ...

    @endpoint(
        "PUT /configuration/{key}",
        "Write a shared value; with If-Match only at that revision",
        scope=Scope.ADMIN,
        body=NewEntryView,
    )
    async def put(
        self, key: str, value: Any, *, revision: int | None = None, reason: str = ""
    ) -> EntryView:
        """Write a value of at most 64 KiB as JSON.

        With a `revision` it is written only over that revision (`ABSENT`: only if there is no
        value), otherwise `RevisionMismatch` is raised.
        """
        ...

    @endpoint(
        "DELETE /configuration/{key}",
        "Delete a shared value; with If-Match only at that revision",
        scope=Scope.ADMIN,
        refuses=(409, 412),
    )
    async def delete(self, key: str, *, revision: int | None = None, reason: str = "") -> None:
        """Delete a value; `UnknownKey` if there is none, `RevisionMismatch` as for `put`."""
        ...
