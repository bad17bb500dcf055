"""Reading: the body of a request, within bounds of size and time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from drumbeat.api.problem import Problem
from drumbeat.api.refusals import unreadable
from drumbeat.api.resolver import AnyRoute
from drumbeat.engine.patience import within
from drumbeat.ports.clock import Clock

Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]

CLOSE = {"connection": "close"}
"""What is left of the request is not worth waiting for."""
BODY_SECONDS = 10.0
"""How long a client may take to send a body."""


class Gone(Exception):
    """The client went away before its request was whole: nobody is left to answer."""


class Reader:
    """Reads and decodes bodies. One decoder for each type, made when it is first needed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    async def read(self, route: AnyRoute, headers: Mapping[bytes, bytes], receive: Receive) -> Any:
        """The body, as the type that the route reads; None if it reads none."""
        if route.body is None:
            return None
        _check(route, headers)
        return self._decode(route, await self._whole(route.largest_body, receive))

    async def _whole(self, largest: int, receive: Receive) -> bytes:
        chunks: list[bytes] = []
        left = largest
        try:
            async with within(self._clock, BODY_SECONDS):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    chunk: bytes = message.get("body", b"")
                    left -= len(chunk)
                    if left < 0:
                        raise _too_large(largest)
                    chunks.append(chunk)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Problem(
                408,
                "too-slow",
                f"the body did not arrive within {BODY_SECONDS:g} s",
                headers=CLOSE,
            ) from None
        return b"".join(chunks)

    def _decode(self, route: AnyRoute, body: bytes) -> Any:
        decoder = self._decoders.get(route.body)
        if decoder is None:
            decoder = self._decoders[route.body] = msgspec.json.Decoder(route.body)
        try:
            return decoder.decode(body or b"{}")
        except msgspec.DecodeError as error:
            raise unreadable(error, "body") from None
        except (UnicodeDecodeError, RecursionError) as error:
            raise Problem(400, "not-json", f"the body is not JSON: {error}") from None


def _check(route: AnyRoute, headers: Mapping[bytes, bytes]) -> None:
    media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media_type and media_type != b"application/json":
        raise Problem(
            415,
            "not-json",
            f"the body must be application/json, not {media_type.decode('latin-1')}",
            field="content-type",
        )
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > route.largest_body:
        raise _too_large(route.largest_body)


def _too_large(largest: int) -> Problem:
    return Problem(
        413,
        "body-too-large",
        f"the body is larger than the {largest:,} bytes that are read here",
        rule=f"at most {largest} bytes",
        headers=CLOSE,
    )
