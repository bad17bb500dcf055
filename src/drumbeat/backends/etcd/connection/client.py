"""EtcdClient: the calls of etcd's JSON gateway that a coordinator needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from enum import Enum
from math import ceil
from typing import TypeAlias, TypeVar

import aiohttp
import msgspec

from drumbeat.backends.etcd.connection import messages
from drumbeat.backends.etcd.connection.messages import Ranged, Transacted, decoded
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
from drumbeat.backends.http.hints import PAUSE, Read, Reading
from drumbeat.model.errors import Unavailable

Message = TypeVar("Message")
State = TypeVar("State")
Send: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]

SILENCE = 1.5
"""Seconds without data after which a watch ends, so that its caller reads the keys again."""
OK = 200


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

    async def make_bond(self, ttl: timedelta) -> int:
        """Create an etcd lease. etcd counts in whole seconds, so the TTL is rounded up."""
        lease = {"TTL": ceil(ttl.total_seconds())}
        return (await self._call("/v3/lease/grant", lease, messages.Granted)).id

    async def renew_bond(self, bond: int) -> bool:
        streamed = await self._call("/v3/lease/keepalive", {"ID": bond}, messages.Streamed)
        return decoded(bytes(streamed.result), messages.Kept).ttl > 0

    async def end_bond(self, bond: int) -> bool:
        try:
            await self._call("/v3/lease/revoke", {"ID": bond}, messages.Empty)
        except Refused as refused:
            if refused.code == NOT_FOUND:
                return False
            raise
        return True

    def reader(
        self, keys: Keys, state_of: Callable[[Ranged], State], change: Change = Change.ANY
    ) -> Read[State]:
        """A function that waits for a change of the keys since a revision, and then reads them."""

        async def read(since: int | None) -> Reading[State]:
            if since is not None:
                try:
                    await self.watch(keys, since + 1, change)
                except Unavailable:  # the read that follows, perhaps elsewhere, raises the reason
                    await self._http.clock.sleep(PAUSE)
            ranged = await self.range(keys)
            return Reading(state_of(ranged), ranged.header.revision)

        return read

    async def watch(self, keys: Keys, revision: int, change: Change = Change.ANY) -> bool:
        """Wait until one of the keys is written or deleted at the revision or later.

        False: there was no change for some time. `Unavailable`: the watch ended or could not start.
        The caller misses nothing if it reads the keys again.
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
                started = _watched(await stream.readline())
                created = True
                if started.canceled and started.cancel_reason:
                    self._token = None  # the read that follows raises the reason, if it remains
                _watched(await _line(stream))
                return True
        except TimeoutError:
            if not created:  # the endpoint did not even confirm the watch
                self._http.skip(endpoint)
            return False

    async def _call(
        self, path: str, body: Mapping[str, Json], kind: type[Message], send: Send | None = None
    ) -> Message:
        send = send or self._http.send
        answer = await send(await self._request(path, body))
        if answer.status != OK and self._user and refusal(answer).is_about_the_token:
            self._token = None  # a refused call was not executed, so it can be repeated
            answer = await send(await self._request(path, body))
        if answer.status != OK:
            raise explained(refusal(answer), self._user)
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
            return decoded(answer.body, messages.Authenticated).token
        refused = refusal(answer)
        if refused.code == PRECONDITION:
            return ""  # authentication is not enabled in this etcd
        raise explained(refused, self._user)


async def _line(stream: aiohttp.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError:  # the line is too long: a large value, so certainly a change
        return b"{}"


def _watched(line: bytes) -> messages.Watched:
    if not line.strip():
        raise Unavailable("etcd ended a watch")
    return decoded(bytes(decoded(line, messages.Streamed).result), messages.Watched)
