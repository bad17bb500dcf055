"""The stream of events, asked of a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from drumbeat.client.request import Request, path_of
from drumbeat.model.audit import AuditEntry
from drumbeat.model.errors import Unavailable
from drumbeat.model.job import Job
from drumbeat.model.node import NodeRecord
from drumbeat.model.queue import QueueRecord
from drumbeat.wire.audit import AuditView, audit_of
from drumbeat.wire.event import EventKind
from drumbeat.wire.job import JobView, job_of
from drumbeat.wire.node import NodeView, node_of
from drumbeat.wire.queue import QueueView, queue_of

if TYPE_CHECKING:
    from drumbeat.client.exchange import Exchange

T = TypeVar("T")

Fact: TypeAlias = Job | QueueRecord | NodeRecord | AuditEntry | Mapping[str, Any]

READY, RESET = "ready", "reset"
SILENCE = 40.0
"""Seconds without a word after which a stream is taken for broken. The server speaks every 15."""
PAUSE = 2.0
"""Seconds before a stream that broke is asked for again."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """Something that happened in the fleet."""

    id: str
    """Where to go on after it."""
    kind: str
    """`job`, `queue`, `node`, `leader`, `tick`, `schedule` or `audit`. `reset`: some events were
    missed, so look at everything anew."""
    about: Fact
    """A job, a queue, a node or an entry of the audit log; of the other kinds, JSON."""


class Events:
    """A stream that goes on where it was when the connection breaks."""

    def __init__(self, exchange: Exchange, kinds: Collection[str], last: str) -> None:
        self._exchange = exchange
        self._kinds = kinds
        self._last = last

    async def all(self) -> AsyncGenerator[ServerEvent]:
        """Events as they happen. A refusal is raised; a server that is away is waited for."""
        while True:
            try:
                async with aclosing(self._connected()) as events:
                    async for event in events:
                        yield event
            except Unavailable:
                pass
            await self._exchange.pause(PAUSE)

    async def _connected(self) -> AsyncGenerator[ServerEvent]:
        query = [("kinds", EventKind(kind).value) for kind in self._kinds]
        headers = {"last-event-id": self._last} if self._last else {}
        request = Request("GET", path_of("events"), query, headers=headers)
        async with self._exchange.stream(request, SILENCE) as lines:
            fields: dict[str, str] = {}
            async for raw in lines:
                line = raw.decode().rstrip("\r\n")
                if line:
                    name, _, value = line.partition(":")
                    fields[name] = value.removeprefix(" ")
                    continue
                event = _event(fields)
                fields = {}
                if event is not None:
                    self._last = event.id or self._last
                    if event.kind != READY:
                        yield event


def _event(fields: Mapping[str, str]) -> ServerEvent | None:
    kind = fields.get("event")
    if kind is None:
        return None
    read = _READ.get(kind, _as_json)
    return ServerEvent(fields.get("id", ""), kind, read(fields.get("data", "{}").encode()))


def _as_json(data: bytes) -> Fact:
    return msgspec.json.decode(data, type=dict[str, Any])


def _reading(kind: type[T], of: Callable[[T], Fact]) -> Callable[[bytes], Fact]:
    return lambda data: of(msgspec.json.decode(data, type=kind))


_READ: Mapping[str, Callable[[bytes], Fact]] = {
    "job": _reading(JobView, job_of),
    "queue": _reading(QueueView, queue_of),
    "node": _reading(NodeView, node_of),
    "audit": _reading(AuditView, audit_of),
}
