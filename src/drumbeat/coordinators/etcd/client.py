"""Client: the few calls of etcd's JSON gateway that a coordinator needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import TypeAlias, TypeVar

import aiohttp
import msgspec

from drumbeat.coordinators.etcd.messages import (
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
from drumbeat.coordinators.etcd.refusal import (
    NOT_FOUND,
    PRECONDITION,
    Refused,
    explained,
    refusal,
)
from drumbeat.coordinators.etcd.transaction import Json, Keys, Transaction
from drumbeat.model.errors import Unavailable
from drumbeat.remote.address import RemoteAddress
from drumbeat.remote.exchange import Answer, Exchange, Request

Message = TypeVar("Message")
Send: TypeAlias = Callable[[Request], Awaitable[Answer]]

SILENCE = 1.5
"""Seconds after which a watch that says nothing is given up, and whoever waits looks again."""
OK = 200


class Woken(Enum):
    """Why a watch came back. After each of them the keys are to be looked at again."""

    CHANGED = "changed"
    COMPACTED = "compacted"
    """What happened since is forgotten: there may have been a change."""
    SILENT = "silent"


class Change(Enum):
    """The changes that end a watch."""

    ANY = "any"
    END = "end"
    """Only deletions: a term that is renewed is written again, which is no news to rivals."""

    @property
    def filters(self) -> tuple[str, ...]:
        """The etcd filters, which name the changes that etcd does not send."""
        return ("NOPUT",) if self is Change.END else ()


class EtcdClient:
    """Typed calls, with the token of the user in each."""

    def __init__(self, address: RemoteAddress, exchange: Exchange) -> None:
        self._user = address.user
        self._password = address.password
        self._exchange = exchange
        self._token: str | None = None

    async def range(self, keys: Keys) -> Ranged:
        """The keys as a majority has them now."""
        return await self._call("/v3/kv/range", keys.as_json(), Ranged)

    async def transact(self, transaction: Transaction) -> Transacted:
        """Do a transaction that may be repeated when no answer comes."""
        return await self._call("/v3/kv/txn", transaction.as_json(), Transacted)

    async def transact_once(self, transaction: Transaction) -> Transacted:
        """Do a transaction at most once; `Unavailable`: perhaps it was done, perhaps not."""
        body = transaction.as_json()
        return await self._call("/v3/kv/txn", body, Transacted, self._exchange.tell)

    async def grant(self, seconds: int) -> int:
        """A new lease. One whose number got lost on the way ends by itself."""
        return (await self._call("/v3/lease/grant", {"TTL": seconds}, Granted)).id

    async def keep_alive(self, lease: int) -> bool:
        """Give the lease its whole time again. False: it is over."""
        streamed = await self._call("/v3/lease/keepalive", {"ID": lease}, Streamed)
        return decoded(bytes(streamed.result), Kept).ttl > 0

    async def revoke(self, lease: int) -> bool:
        """End a lease, and delete what is bound to it. False: it was over."""
        try:
            await self._call("/v3/lease/revoke", {"ID": lease}, Empty)
        except Refused as refused:
            if refused.code == NOT_FOUND:
                return False
            raise
        return True

    async def watch(self, keys: Keys, revision: int, change: Change = Change.ANY) -> Woken:
        """Return when one of the keys is written or deleted at the revision or later.

        `Unavailable`: it ended, or could not begin. Nothing is lost for one who looks again.
        """
        create: Mapping[str, Json] = {
            **keys.as_json(),
            "start_revision": revision,
            "filters": change.filters,
        }
        request = await self._request("/v3/watch", {"create_request": create})
        endpoint, created = self._exchange.endpoint, False
        try:
            async with self._exchange.stream(request, SILENCE) as stream:
                self._heed(await stream.readline())
                created = True
                return _woken_by(await _word(stream))
        except TimeoutError:
            if not created:  # it did not even answer, so the next one shall
                self._exchange.leave(endpoint)
            return Woken.SILENT

    async def _call(
        self,
        path: str,
        body: Mapping[str, Json],
        kind: type[Message],
        send: Send | None = None,
    ) -> Message:
        send = send or self._exchange.ask
        try:
            return await self._send(path, body, kind, send)
        except Refused as refused:
            if not (self._user and refused.is_about_the_token):
                raise explained(refused, self._user) from None
        self._token = None  # a refused call was not done, so any can be made again
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

    async def _request(self, path: str, body: Mapping[str, Json]) -> Request:
        if self._user and self._token is None:
            self._token = await self._authenticate()
        headers = {"Authorization": self._token} if self._token else {}
        return Request("POST", path, msgspec.json.encode(body), headers)

    async def _authenticate(self) -> str:
        who = msgspec.json.encode({"name": self._user, "password": self._password})
        answer = await self._exchange.ask(Request("POST", "/v3/auth/authenticate", who))
        if answer.status == OK:
            return decoded(answer.body, Authenticated).token
        refused = refusal(answer)
        if refused.code == PRECONDITION:
            return ""  # this etcd asks nobody who they are
        raise explained(refused, self._user)

    def _heed(self, word: bytes) -> None:
        """The first word of a watch says whether it will tell anything."""
        watched = _watched(word)
        if watched.canceled and watched.cancel_reason:
            self._token = None  # the look that follows will say what is wrong, if it still is


async def _word(stream: aiohttp.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError:  # longer than a line may be: a large value, so certainly news
        return b"{}"


def _woken_by(word: bytes) -> Woken:
    return Woken.COMPACTED if _watched(word).compact_revision else Woken.CHANGED


def _watched(word: bytes) -> Watched:
    if not word.strip():
        raise Unavailable("etcd ended a watch")
    return decoded(bytes(decoded(word, Streamed).result), Watched)
