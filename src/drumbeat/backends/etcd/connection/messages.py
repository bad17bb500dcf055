"""Responses of etcd's JSON gateway, which omits fields that are zero, false or empty."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from drumbeat.model.errors import Unavailable

Message = TypeVar("Message")


class Header(msgspec.Struct, frozen=True):
    """The header of every response."""

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
    """The result of one operation of a transaction. Only reads have content."""

    response_range: Ranged | None = None


class Transacted(msgspec.Struct, frozen=True):
    """Which branch of a transaction was taken, and the results of its operations."""

    header: Header = Header()
    succeeded: bool = False
    responses: tuple[Response, ...] = ()

    def found(self, index: int) -> KeyValue | None:
        """The key that the operation with this index read; None: it does not exist."""
        ranged = self.responses[index].response_range
        return ranged.kvs[0] if ranged is not None and ranged.kvs else None


class Granted(msgspec.Struct, frozen=True):
    """A new lease."""

    id: int = msgspec.field(name="ID", default=0)


class Kept(msgspec.Struct, frozen=True):
    """A lease that was renewed; without a TTL it is over."""

    ttl: int = msgspec.field(name="TTL", default=0)


class Authenticated(msgspec.Struct, frozen=True):
    """A token for the header of further calls."""

    token: str = ""


class Watched(msgspec.Struct, frozen=True):
    """One line of a watch."""

    canceled: bool = False
    cancel_reason: str = ""


class Streamed(msgspec.Struct, frozen=True):
    """The envelope of each line of a stream."""

    result: msgspec.Raw = msgspec.Raw(b"{}")


class Empty(msgspec.Struct, frozen=True):
    """A response without content."""


class Complaint(msgspec.Struct, frozen=True):
    """Why a call was refused, with the gRPC status code."""

    code: int = 0
    message: str = ""


def decoded(body: bytes, kind: type[Message]) -> Message:
    """Decode a response. Numbers come as strings, since they may exceed those of JSON."""
    try:
        return msgspec.json.decode(body, type=kind, strict=False)
    except msgspec.MsgspecError as error:
        raise Unavailable(
            f"the server is not etcd, or an unsupported version of it: {error}"
        ) from None
