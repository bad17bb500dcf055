"""The shared configuration of a remote fleet."""

from __future__ import annotations

from typing import Any

from drumbeat.fleet.configuration import ABSENT
from drumbeat.fleet.remote.request import body_of
from drumbeat.fleet.remote.resource import RemoteResource, reason_header, request_for
from drumbeat.wire.entry import EntryView


class RemoteConfiguration(RemoteResource):
    """Implements `FleetConfiguration`."""

    async def get(self, key: str) -> EntryView:
        """The value and its revision; `UnknownKey` if there is none."""
        return await self._get(EntryView, "configuration", key)

    async def put(
        self, key: str, value: Any, *, revision: int | None = None, reason: str = ""
    ) -> EntryView:
        """Write a value as JSON; with a `revision` only over that one (0: only if absent).

        Raises `RevisionMismatch` if the key is at another revision.
        """
        headers = _headers(revision, reason)
        body = body_of({"value": value})
        request = request_for("PUT", "configuration", key, body=body, headers=headers)
        return await self._send(EntryView, request)

    async def delete(self, key: str, *, revision: int | None = None, reason: str = "") -> None:
        """Delete a value; `UnknownKey` if there is none, `RevisionMismatch` as for `put`."""
        headers = _headers(revision, reason)
        await self._transport.send(request_for("DELETE", "configuration", key, headers=headers))


def _headers(revision: int | None, reason: str) -> dict[str, str]:
    if revision is None:
        return reason_header(reason)
    if revision == ABSENT:
        return {"if-none-match": "*", **reason_header(reason)}
    return {"if-match": f'"{revision}"', **reason_header(reason)}
