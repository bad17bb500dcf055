"""ConsulClient: the calls of Consul's HTTP API that a coordinator needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TypeAlias
from urllib.parse import quote, urlencode

import msgspec

from drumbeat.backends.consul.connection.messages import (
    KeyValue,
    Objection,
    Operation,
    SessionMade,
    Transacted,
    decoded,
)
from drumbeat.backends.http.address import RemoteAddress
from drumbeat.backends.http.failover_client import FailoverClient, HttpRequest, HttpResponse
from drumbeat.model.errors import ConfigurationError, Unavailable

Send: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]
Query: TypeAlias = Mapping[str, str]

NOTHING: Query = {}
CONSISTENT: Query = {"consistent": ""}

WAIT = 1.5
"""Seconds that a blocking query waits for a change before it returns anyway."""
SHORTEST_TTL = timedelta(seconds=10)
"""Consul's default for `session_ttl_min`."""
OK = 200
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
_DENIALS = ("ermission denied", "ACL not found")


@dataclass(frozen=True, slots=True)
class Found:
    """Keys, and the index at which they were read."""

    keys: tuple[KeyValue, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Objected:
    """A transaction that was not executed."""

    objections: tuple[Objection, ...]

    def concerns(self, number: int) -> bool:
        """Whether the operation with this number failed."""
        return any(objection.op_index == number for objection in self.objections)


class ConsulClient:
    """Typed calls, each with the ACL token."""

    def __init__(self, address: RemoteAddress, http: FailoverClient) -> None:
        token = address.options.get("token") or address.password or address.user
        self._headers = {"X-Consul-Token": token} if token else {}
        self._datacenter = address.options.get("dc", "")
        self._http = http
        self._shortest = timedelta(0)

    async def read(self, *operations: Operation) -> Sequence[KeyValue] | Objected:
        """Read keys atomically from a majority; `Objected`: one of them does not exist."""
        return await self._transact(operations, self._http.send, CONSISTENT)

    async def transact(self, *operations: Operation) -> Sequence[KeyValue] | Objected:
        """Execute all operations or none; may be repeated if no answer comes."""
        return await self._transact(operations, self._http.send)

    async def transact_once(self, *operations: Operation) -> Sequence[KeyValue] | Objected:
        """Execute all operations or none, at most once; `Unavailable`: the outcome is unknown."""
        return await self._transact(operations, self._http.send_once)

    async def find(self, key: str, index: int = 0) -> Found:
        """The key, once it has changed since the index, or after `WAIT`. Index 0: at once."""
        return await self._find(key, index, {})

    async def find_below(self, prefix: str, index: int = 0) -> Found:
        """All keys that begin with a prefix, as `find` does."""
        return await self._find(prefix, index, {"recurse": ""})

    async def make_bond(self, ttl: timedelta) -> str:
        """Create a session, with a longer TTL if Consul accepts none so short."""
        answer = await self._create_session(max(ttl, self._shortest))
        if answer.status != OK and b"TTL" in answer.body and ttl < SHORTEST_TTL:
            self._shortest = SHORTEST_TTL
            answer = await self._create_session(SHORTEST_TTL)
        return decoded(self._checked(answer).body, SessionMade).id

    async def renew_bond(self, bond: str) -> bool:
        answer = await self._http.send(self._request("PUT", f"session/renew/{bond}"))
        return answer.status != NOT_FOUND and bool(self._checked(answer))

    async def end_bond(self, bond: str) -> bool:
        answer = await self._http.send(self._request("PUT", f"session/destroy/{bond}"))
        return bool(self._checked(answer))  # Consul does not say whether it was over

    async def _create_session(self, ttl: timedelta) -> HttpResponse:
        session = {
            "Name": "drumbeat",
            "TTL": f"{ceil(ttl / timedelta(milliseconds=1))}ms",
            "Behavior": "delete",
            "LockDelay": "0s",
            "NodeChecks": (),
        }
        body = msgspec.json.encode(session)
        return await self._http.send(self._request("PUT", "session/create", body))

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
            self._check_access(objection.what)
        return Objected(done.errors)

    async def _find(self, key: str, index: int, query: Query) -> Found:
        wait = {"index": str(index), "wait": f"{round(WAIT * 1000)}ms"} if index else {}
        request = self._request("GET", f"kv/{quote(key)}", query={**query, **wait})
        answer = await self._http.send(request)
        found: tuple[KeyValue, ...] = ()
        if answer.status != NOT_FOUND:
            found = decoded(self._checked(answer).body, tuple[KeyValue, ...])
        read_at = int(answer.headers.get("X-Consul-Index", "0"))
        # An index that went back belongs to a Consul that has lost its data.
        return Found(found, read_at if read_at >= index else 0)

    def _request(
        self, method: str, path: str, body: bytes = b"", query: Query = NOTHING
    ) -> HttpRequest:
        if self._datacenter:
            query = {**query, "dc": self._datacenter}
        question = f"?{urlencode(query)}" if query else ""
        extra_time = 1.25 * WAIT if "wait" in query else 0.0  # Consul adds up to a sixteenth
        return HttpRequest(method, f"/v1/{path}{question}", body, self._headers, extra_time)

    def _checked(self, answer: HttpResponse) -> HttpResponse:
        if answer.status == OK:
            return answer
        text = answer.text
        self._check_access("ACL not found" if answer.status == FORBIDDEN and not text else text)
        raise Unavailable(
            f"Consul at {answer.endpoint} refused a call: {text or f'HTTP status {answer.status}'}"
        )

    def _check_access(self, what: str) -> None:
        """Raise `ConfigurationError` for an error that only a person can fix."""
        if any(words in what for words in _DENIALS):
            raise ConfigurationError(
                f"Consul rejects the token in the address of the coordinator ({what}); "
                f"it must exist and may write sessions and all keys below the prefix"
                if self._headers
                else f"Consul requires a token ({what}); write the address as "
                f"'consul://token@host:8500'"
            )
