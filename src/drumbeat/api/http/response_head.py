"""The status line and the headers of a response, for ASGI and as bytes.

Our own server takes an answer as a whole and writes it at once. Any other gets it by the messages
of ASGI.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TypeAlias

from drumbeat.api.http.response import JSON, Response

Header: TypeAlias = tuple[bytes, bytes]

WHOLE = "drumbeat.whole"
"""The key under which our own server puts a call into the ASGI scope. The call writes a head and a
body at once, and returns whether it did; otherwise ASGI messages are sent."""

SAFE: tuple[Header, ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers of every response: do not cache, frame or sniff it."""

IN_JSON: Header = (b"content-type", JSON.encode())


def headers_of(answer: Response) -> list[Header]:
    """All headers of a response."""
    headers: list[Header] = [*SAFE, (b"content-length", b"%d" % len(answer.body))]
    if answer.body:
        media_type = answer.media_type
        headers.append(IN_JSON if media_type == JSON else (b"content-type", media_type.encode()))
    for name, value in answer.headers.items():
        headers.append((name.encode(), value.encode("latin-1")))
    return headers


def written_head(answer: Response) -> bytes | None:
    """The head of a response as bytes; None if a value contains a line break."""
    own = ""
    for name, value in answer.headers.items():
        if not (value.isascii() and value.isprintable()):
            return None
        own += f"{name}: {value}\r\n"
    length = len(answer.body)
    usual = _usual(answer.status, answer.media_type if length else None)
    return b"%bcontent-length: %d\r\n%b" % (usual, length, own.encode())


@cache
def _usual(status: int, media_type: str | None) -> bytes:
    """The part of the head that all responses of a status and a type share."""
    headers = SAFE if media_type is None else (*SAFE, (b"content-type", media_type.encode()))
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return b"HTTP/1.1 %d %b\r\n%b" % (status, HTTPStatus(status).phrase.encode(), lines)
