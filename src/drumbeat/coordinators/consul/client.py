"""Client: the few calls of Consul's HTTP API that a coordinator needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TypeAlias
from urllib.parse import quote, urlencode

import msgspec

from drumbeat.coordinators.consul.messages import (
    KeyValue,
    Objection,
    Operation,
    SessionMade,
    Transacted,
    decoded,
)
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.remote.address import RemoteAddress
from drumbeat.remote.exchange import Answer, Exchange, Request

Send: TypeAlias = Callable[[Request], Awaitable[Answer]]
Query: TypeAlias = Mapping[str, str]

NOTHING: Query = {}
CONSISTENT: Query = {"consistent": ""}

WAIT = 1.5
"""Seconds that a blocking query waits for news; then whoever waits looks again."""
SHORTEST_TTL = timedelta(seconds=10)
"""What Consul takes unless it was told otherwise."""
OK = 200
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
_DENIALS = ("ermission denied", "ACL not found")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Looked:
    """Keys, and the index at which they were seen."""

    found: tuple[KeyValue, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Objected:
    """A transaction that was not done."""

    objections: tuple[Objection, ...]

    def concerns(self, number: int) -> bool:
        """Whether the operation of that number was at fault."""
        return any(objection.op_index == number for objection in self.objections)


class ConsulClient:
    """Typed calls, with the token in each."""

    def __init__(self, address: RemoteAddress, exchange: Exchange) -> None:
        token = address.options.get("token") or address.password or address.user
        self._headers = {"X-Consul-Token": token} if token else {}
        self._datacenter = address.options.get("dc", "")
        self._exchange = exchange
        self._shortest = timedelta(0)

    async def read(self, *operations: Operation) -> Sequence[KeyValue] | Objected:
        """Read keys together, as a majority has them now; an objection: one does not exist."""
        return await self._transact(operations, self._exchange.ask, CONSISTENT)

    async def transact(self, *operations: Operation) -> Sequence[KeyValue] | Objected:
        """Do all operations, or none; for those that may be repeated when no answer comes."""
        return await self._transact(operations, self._exchange.ask)

    async def transact_once(self, *operations: Operation) -> Sequence[KeyValue] | Objected:
        """Do all or none at most once; `Unavailable`: perhaps it was done, perhaps not."""
        return await self._transact(operations, self._exchange.tell)

    async def look(self, key: str, index: int = 0) -> Looked:
        """The key, as soon as there is news since the index, and after a while in any case."""
        return await self._look(key, index, {})

    async def look_below(self, prefix: str, index: int = 0) -> Looked:
        """All keys that begin with a prefix, likewise."""
        return await self._look(prefix, index, {"recurse": ""})

    async def make_session(self, ttl: timedelta) -> str:
        """A new session. One whose name got lost on the way ends by itself."""
        answer = await self._create(max(ttl, self._shortest))
        if answer.status != OK and b"TTL" in answer.body and ttl < SHORTEST_TTL:
            self._shortest = SHORTEST_TTL
            answer = await self._create(SHORTEST_TTL)
        return decoded(self._checked(answer).body, SessionMade).id

    async def renew_session(self, session: str) -> bool:
        """Give the session its whole time again. False: it is over."""
        answer = await self._exchange.ask(self._request("PUT", f"session/renew/{session}"))
        return answer.status != NOT_FOUND and bool(self._checked(answer))

    async def end_session(self, session: str) -> None:
        """End a session, and delete what it has locked. Harmless if it is over."""
        self._checked(await self._exchange.ask(self._request("PUT", f"session/destroy/{session}")))

    async def _create(self, ttl: timedelta) -> Answer:
        wish = {
            "Name": "drumbeat",
            "TTL": f"{ceil(ttl / timedelta(milliseconds=1))}ms",
            "Behavior": "delete",
            "LockDelay": "0s",
            "NodeChecks": (),
        }
        body = msgspec.json.encode(wish)
        return await self._exchange.ask(self._request("PUT", "session/create", body))

    async def _transact(
        self, operations: Sequence[Operation], send: Send, query: Query = NOTHING
    ) -> Sequence[KeyValue] | Objected:
        body = msgspec.json.encode(operations)
        answer = await send(self._request("PUT", "txn", body, query))
        if answer.status != CONFLICT:
            answer = self._checked(answer)
        done = decoded(answer.body, Transacted)
        if not done.errors:
            return [result.kv for result in done.results or ()]
        for objection in done.errors:
            self._heed(objection.what)
        return Objected(done.errors)

    async def _look(self, key: str, index: int, query: Query) -> Looked:
        """An index of zero answers at once; one that went back was that of another life."""
        wait = {"index": str(index), "wait": f"{round(WAIT * 1000)}ms"} if index else {}
        request = self._request("GET", f"kv/{quote(key)}", query={**query, **wait})
        answer = await self._exchange.ask(request)
        found: tuple[KeyValue, ...] = ()
        if answer.status != NOT_FOUND:
            found = decoded(self._checked(answer).body, tuple[KeyValue, ...])
        seen_at = int(answer.headers.get("X-Consul-Index", "0"))
        return Looked(found, seen_at if seen_at >= index else 0)

    def _request(
        self, method: str, path: str, body: bytes = b"", query: Query = NOTHING
    ) -> Request:
        if self._datacenter:
            query = {**query, "dc": self._datacenter}
        question = f"?{urlencode(query)}" if query else ""
        longer = 1.25 * WAIT if "wait" in query else 0.0  # Consul adds up to a sixteenth
        return Request(method, f"/v1/{path}{question}", body, self._headers, longer)

    def _checked(self, answer: Answer) -> Answer:
        if answer.status == OK:
            return answer
        text = answer.body[:_LONGEST].decode(errors="replace").strip()
        self._heed("ACL not found" if answer.status == FORBIDDEN and not text else text)
        raise Unavailable(
            f"Consul at {answer.endpoint} refused a call: {text or f'HTTP status {answer.status}'}"
        )

    def _heed(self, what: str) -> None:
        """What only a person can repair is a fault of the settings."""
        if any(words in what for words in _DENIALS):
            raise ConfigurationError(
                f"Consul refuses the token in the address of the coordinator ({what}); "
                f"it must be known, write keys below the prefix, and write sessions"
                if self._headers
                else f"Consul asks for a token ({what}); write the address as "
                f"'consul://token@host:8500'"
            )
