"""EtcdClient: the calls of etcd's JSON gateway that a coordinator needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import TypeAlias, TypeVar

import aiohttp
import msgspec

from drumbeat.backends.etcd.connection.messages import (
    Authenticated,
    Empty,
    Granted,
    Kept,
    Ranged,
    Streamed,
    Transacted,
    Watched,
    decoded,
)
from drumbeat.backends.etcd.connection.refusal import (
    NOT_FOUND,
    PRECONDITION,
    Refused,
    explained,
    refusal,
)
from drumbeat.backends.etcd.connection.transaction import Json, Keys, Transaction
from drumbeat.backends.http.address import RemoteAddress
from drumbeat.backends.http.failover_client import FailoverClient, HttpRequest, HttpResponse
from drumbeat.model.errors import Unavailable

Message = TypeVar("Message")
Send: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]

SILENCE = 1.5
"""Seconds without data after which a watch ends, so that its caller reads the keys again."""
OK = 200


class Woken(Enum):
    """Why a watch returned. The caller has to read the keys again in each case."""

    CHANGED = "changed"
    COMPACTED = "compacted"
    """etcd has dropped the history since the revision: there may have been a change."""
    SILENT = "silent"


class Change(Enum):
    """Which changes end a watch."""

    ANY = "any"
    END = "end"
    """Only deletions: a renewal writes the key too, which does not concern other candidates."""

    @property
    def filters(self) -> tuple[str, ...]:
        """etcd's filters: the changes that it does not send."""
        return ("NOPUT",) if self is Change.END else ()


class EtcdClient:
    """Typed calls, each with the user's token."""

    def __init__(self, address: RemoteAddress, http: FailoverClient) -> None:
        self._user = address.user
        self._password = address.password
        self._http = http
        self._token: str | None = None

    async def range(self, keys: Keys) -> Ranged:
        """Read the keys from a majority of the members."""
        return await self._call("/v3/kv/range", keys.as_json(), Ranged)

    async def transact(self, transaction: Transaction) -> Transacted:
        """Run a transaction; it may be repeated if no answer comes."""
        return await self._call("/v3/kv/txn", transaction.as_json(), Transacted)

    async def transact_once(self, transaction: Transaction) -> Transacted:
        """Run a transaction at most once; `Unavailable`: the outcome is unknown."""
        body = transaction.as_json()
        return await self._call("/v3/kv/txn", body, Transacted, self._http.send_once)

    async def grant(self, seconds: int) -> int:
        """Create a lease. If the answer is lost, the lease ends by itself."""
        return (await self._call("/v3/lease/grant", {"TTL": seconds}, Granted)).id

    async def keep_alive(self, lease: int) -> bool:
        """Renew the lease for its whole TTL. False: it is over."""
        streamed = await self._call("/v3/lease/keepalive", {"ID": lease}, Streamed)
        return decoded(bytes(streamed.result), Kept).ttl > 0

    async def revoke(self, lease: int) -> bool:
        """End a lease, and delete the keys that are bound to it. False: it was over."""
        try:
            await self._call("/v3/lease/revoke", {"ID": lease}, Empty)
        except Refused as refused:
            if refused.code == NOT_FOUND:
                return False
            raise
        return True

    async def watch(self, keys: Keys, revision: int, change: Change = Change.ANY) -> Woken:
        """Return when one of the keys is written or deleted at the revision or later.

        `Unavailable`: the watch ended or could not start. The caller misses nothing if it reads
        the keys again.
        """
        create: Mapping[str, Json] = {
            **keys.as_json(),
            "start_revision": revision,
            "filters": change.filters,
        }
        request = await self._request("/v3/watch", {"create_request": create})
        endpoint, created = self._http.endpoint, False
        try:
            async with self._http.stream(request, SILENCE) as stream:
                self._check_start(await stream.readline())
                created = True
                return _woken_by(await _line(stream))
        except TimeoutError:
            if not created:  # the endpoint did not even confirm the watch
                self._http.skip(endpoint)
            return Woken.SILENT

    async def _call(
        self,
        path: str,
        body: Mapping[str, Json],
        kind: type[Message],
        send: Send | None = None,
    ) -> Message:
        send = send or self._http.send
        try:
            return await self._send(path, body, kind, send)
        except Refused as refused:
            if not (self._user and refused.is_about_the_token):
                raise explained(refused, self._user) from None
        self._token = None  # a refused call was not executed, so it can be repeated
        try:
            return await self._send(path, body, kind, send)
        except Refused as refused:
            raise explained(refused, self._user) from None

    async def _send(
        self, path: str, body: Mapping[str, Json], kind: type[Message], send: Send
    ) -> Message:
        answer = await send(await self._request(path, body))
        if answer.status != OK:
            raise refusal(answer)
        return decoded(answer.body, kind)

    async def _request(self, path: str, body: Mapping[str, Json]) -> HttpRequest:
        if self._user and self._token is None:
            self._token = await self._authenticate()
        headers = {"Authorization": self._token} if self._token else {}
        return HttpRequest("POST", path, msgspec.json.encode(body), headers)

    async def _authenticate(self) -> str:
        who = msgspec.json.encode({"name": self._user, "password": self._password})
        answer = await self._http.send(HttpRequest("POST", "/v3/auth/authenticate", who))
        if answer.status == OK:
            return decoded(answer.body, Authenticated).token
        refused = refusal(answer)
        if refused.code == PRECONDITION:
            return ""  # authentication is not enabled in this etcd
        raise explained(refused, self._user)

    def _check_start(self, line: bytes) -> None:
        """The first line of a watch says whether etcd accepted it."""
        watched = _watched(line)
        if watched.canceled and watched.cancel_reason:
            self._token = None  # the read that follows raises what is wrong, if it still is


async def _line(stream: aiohttp.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError:  # the line is too long: a large value, so certainly a change
        return b"{}"


def _woken_by(line: bytes) -> Woken:
    return Woken.COMPACTED if _watched(line).compact_revision else Woken.CHANGED


def _watched(line: bytes) -> Watched:
    if not line.strip():
        raise Unavailable("etcd ended a watch")
    return decoded(bytes(decoded(line, Streamed).result), Watched)
