"""Reads and decodes the body of a request, bounded in size and time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from drumbeat.api.http.asgi import Headers, Receive
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.route import AnyRoute
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.encoding.json_depth import DEEPEST_BODY, is_deeper
from drumbeat.ports.clock import Clock
from drumbeat.wire.requests import invalid_request

JSON = b"application/json"
CLOSE = {"connection": "close"}
"""The rest of the request is not read."""
BODY_SECONDS = 10.0
"""Seconds that a client may take to send a body."""


BOUNDED = "drumbeat.bounded"
"""The key that our own server adds to the ASGI scope: it bounds the time of a body itself."""


class Gone(Exception):
    """The client disconnected before its request was complete."""


class BodyReader:
    """Reads and decodes bodies. It makes one decoder for each type, when it is first needed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    async def read(
        self,
        route: AnyRoute,
        connection: Mapping[str, Any],
        headers: Headers,
        receive: Receive,
    ) -> Any:
        """The decoded body; None if the route takes none."""
        if not route.safe:
            _check_type(headers)
        if route.body is None:
            return None
        _check_length(route, headers)
        if BOUNDED in connection:  # our own server cuts off what is too slow, for no timer
            return self._decode(route, headers, await _whole(route.largest_body, receive))
        try:
            async with timeout_after(self._clock, BODY_SECONDS):
                body = await _whole(route.largest_body, receive)
        except TimeoutError:
            raise Problem(
                408,
                "too-slow",
                f"the body did not arrive within {BODY_SECONDS:g} s",
                headers=CLOSE,
            ) from None
        return self._decode(route, headers, body)

    def _decode(self, route: AnyRoute, headers: Headers, body: bytes) -> Any:
        if body and b"content-type" not in headers:
            raise _not_json("and does not say so")
        decoder = self._decoders.get(route.body)
        if decoder is None:
            decoder = self._decoders[route.body] = msgspec.json.Decoder(route.body)
        if is_deeper(body, DEEPEST_BODY):
            rule = f"at most {DEEPEST_BODY} levels"
            said = f"the body is nested more deeply than the {DEEPEST_BODY} levels that are read"
            raise Problem(422, "too-deep", said, rule=rule)
        try:
            return decoder.decode(body or b"{}")
        except msgspec.ValidationError as error:
            raise invalid_request(error, "body") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Problem(400, "not-json", f"the body is not JSON: {error}") from None


async def _whole(largest: int, receive: Receive) -> bytes:
    chunks: list[bytes] = []
    left, more = largest, True
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
    return b"".join(chunks) if len(chunks) > 1 else chunks[0]


def _check_type(headers: Headers) -> None:
    """Reject other content types than JSON: a form of any page can send those."""
    given = headers.get(b"content-type", JSON)
    if given == JSON:
        return
    media_type = given.partition(b";")[0].strip().lower()
    if media_type != JSON:
        raise _not_json(f"not {media_type.decode('latin-1') or 'of an empty type'}")


def _not_json(what: str) -> Problem:
    return Problem(
        415,
        "not-json",
        f"the body must be application/json, {what}; "
        f"send the header content-type: application/json",
        field="content-type",
    )


def _check_length(route: AnyRoute, headers: Headers) -> None:
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
