"""The fleet's shared configuration, asked of a server."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from drumbeat.client.asking import Noun
from drumbeat.client.request import Answer, Request, body_of, path_of
from drumbeat.model.errors import InvalidInput
from drumbeat.model.lease import Entry
from drumbeat.wire.entry import EntryView, entry_of

ABSENT = 0
"""The revision of a key that nothing is kept under."""


class Configuration(Noun):
    """Small values that the fleet shares. Over HTTP each of them is JSON."""

    async def get(self, key: str) -> Entry | None:
        """The value under a key; None if there is none."""
        request = Request("GET", path_of("configuration", key), about=key)
        answer = await self._exchange.ask(request, ("unknown-key",))
        return None if answer.problem is not None else _entry(answer)

    async def put(self, key: str, value: bytes) -> Entry:
        """Write a value, whatever was there before."""
        return _entry(await self._exchange.ask(_written(key, value, {})))

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write a value, or delete it (None), if its revision still stands; None: it does not.

        Revision 0 stands for a key that nothing is kept under.
        """
        stands = {"if-none-match": "*"} if revision == ABSENT else {"if-match": f'"{revision}"'}
        if value is not None:
            answer = await self._exchange.ask(_written(key, value, stands), ("changed-meanwhile",))
            return None if answer.problem is not None else _entry(answer)
        request = Request("DELETE", path_of("configuration", key), headers=stands, about=key)
        gone = await self._exchange.ask(request, ("changed-meanwhile", "unknown-key"))
        return None if gone.problem is not None else Entry(key, b"", revision + 1)

    async def delete(self, key: str) -> None:
        """Delete a value; `NotFound` if there is none."""
        await self._delete(path_of("configuration", key), key)


def _written(key: str, value: bytes, headers: Mapping[str, str]) -> Request:
    try:
        msgspec.json.decode(value, type=msgspec.Raw)
        body = body_of({"value": msgspec.Raw(value)})
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InvalidInput(f"value of {key!r} is not JSON; over HTTP it has to be") from None
    return Request("PUT", path_of("configuration", key), body=body, headers=headers, about=key)


def _entry(answer: Answer) -> Entry:
    return entry_of(answer.read(EntryView))
