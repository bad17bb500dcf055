"""Heads: the status and the headers of an answer, as ASGI wants them and as they go out.

Our own server takes an answer as a whole and writes it at once. Any other gets it by the messages
of ASGI.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TypeAlias

from drumbeat.api.answer import JSON, Answer

Header: TypeAlias = tuple[bytes, bytes]

WHOLE = "drumbeat.whole"
"""What our own server adds to a connection: the call that takes a head and a body, and says whether
they were written. If not, the messages of ASGI do it."""

SAFE: tuple[Header, ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""What every answer carries: none of it is to be kept, framed or taken for something else."""

IN_JSON: Header = (b"content-type", JSON.encode())


def headers_of(answer: Answer) -> list[Header]:
    """All headers of an answer."""
    headers: list[Header] = [*SAFE, (b"content-length", b"%d" % len(answer.body))]
    if answer.body:
        media_type = answer.media_type
        headers.append(IN_JSON if media_type == JSON else (b"content-type", media_type.encode()))
    for name, value in answer.headers.items():
        headers.append((name.encode(), value.encode("latin-1")))
    return headers


def written_head(answer: Answer) -> bytes | None:
    """The head of an answer up to its last header; None: a value that would not stay one line."""
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
    """What all answers of a status and a type have in common. There are few of either."""
    headers = SAFE if media_type is None else (*SAFE, (b"content-type", media_type.encode()))
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return b"HTTP/1.1 %d %b\r\n%b" % (status, HTTPStatus(status).phrase.encode(), lines)
