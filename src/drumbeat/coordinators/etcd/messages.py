"""Messages: what etcd's JSON gateway says. What is zero, false or empty is left out by it."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from drumbeat.model.errors import Unavailable

Message = TypeVar("Message")


class Header(msgspec.Struct, frozen=True):
    """Stands at the head of every answer."""

    cluster_id: int = 0
    revision: int = 0


class KeyValue(msgspec.Struct, frozen=True):
    """A key as it is now."""

    key: bytes = b""
    value: bytes = b""
    create_revision: int = 0
    mod_revision: int = 0
    lease: int = 0
    version: int = 0


class Ranged(msgspec.Struct, frozen=True):
    """The keys of a range."""

    header: Header = Header()
    kvs: tuple[KeyValue, ...] = ()


class Response(msgspec.Struct, frozen=True):
    """The answer to one operation of a transaction. Only reads say anything."""

    response_range: Ranged | None = None


class Transacted(msgspec.Struct, frozen=True):
    """Which branch of a transaction was taken, and what its operations said."""

    header: Header = Header()
    succeeded: bool = False
    responses: tuple[Response, ...] = ()

    def found(self, number: int) -> KeyValue | None:
        """The key that the operation of that number read; None: it does not exist.

        Numbers below zero count from the last.
        """
        ranged = self.responses[number].response_range
        return ranged.kvs[0] if ranged is not None and ranged.kvs else None


class Granted(msgspec.Struct, frozen=True):
    """A new lease."""

    id: int = msgspec.field(name="ID", default=0)


class Kept(msgspec.Struct, frozen=True):
    """A lease that was kept alive; without a TTL it is over."""

    ttl: int = msgspec.field(name="TTL", default=0)


class Authenticated(msgspec.Struct, frozen=True):
    """A token for the header of further calls."""

    token: str = ""


class Watched(msgspec.Struct, frozen=True):
    """One word of a watch."""

    created: bool = False
    canceled: bool = False
    cancel_reason: str = ""
    compact_revision: int = 0


class Streamed(msgspec.Struct, frozen=True):
    """The wrapping of what belongs to a stream."""

    result: msgspec.Raw = msgspec.Raw(b"{}")
    error: msgspec.Raw = msgspec.Raw(b"")


class Empty(msgspec.Struct, frozen=True):
    """An answer of which only the arrival counts."""


class Complaint(msgspec.Struct, frozen=True):
    """Why a call was refused, with the number of the reason in gRPC."""

    code: int = 0
    message: str = ""


def decoded(body: bytes, kind: type[Message]) -> Message:
    """The message in an answer. Numbers come as texts, since JSON's are too short for them."""
    try:
        return msgspec.json.decode(body, type=kind, strict=False)
    except msgspec.MsgspecError as error:
        raise Unavailable(f"what answered is not etcd, or one that is not known: {error}") from None
