"""Answers: what goes back to whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from drumbeat.model.swift import swift

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

encode = msgspec.json.Encoder().encode
"""Any value of the wire as JSON."""


def _nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    body: bytes = b""
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


new_answer = swift(Answer)


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that goes on until one side has enough of it."""

    chunks: AsyncGenerator[bytes]
    media_type: str
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is to end at once, whatever the client has read of it."""
    allowed: Callable[[], Awaitable[bool]] | None = None
    """Whether whoever reads it still may; None: nobody is asked again."""
    closed: Callable[[], None] = _nothing
    """To be called once when nobody reads it any more, also if nobody ever did."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list: its items are the answer, and a `Link` header says where the next is."""

    items: Sequence[Any]
    next: str | None = None
    """What `after` has to be for the next page; None: there is none."""


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """A value of the wire as an answer."""
    return new_answer(status, encode(value), JSON, headers or {})
