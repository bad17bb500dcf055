"""Responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from drumbeat.model.fast_construction import fast_constructor

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

encode = msgspec.json.Encoder().encode
"""Encodes any view as JSON."""


def _nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response."""

    status: int
    body: bytes = b""
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


new_response = fast_constructor(Response)


@dataclass(frozen=True, slots=True)
class Stream:
    """A response that goes on until one side ends it."""

    chunks: AsyncGenerator[bytes]
    media_type: str
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to end it at once, whatever the client has read."""
    allowed: Callable[[], Awaitable[bool]] | None = None
    """Checks whether the reader still has access; None: it is not checked again."""
    closed: Callable[[], None] = _nothing
    """Called once when the stream has ended, also if it was never read."""


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return new_response(status, encode(value), JSON, headers or {})
