"""Responses of Consul, and the operations of its transactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

import msgspec

from drumbeat.model.errors import Unavailable

Message = TypeVar("Message")
Operation: TypeAlias = Mapping[str, Mapping[str, str | bytes | int]]


class KeyValue(msgspec.Struct, frozen=True, rename="pascal"):
    """A key as it is now."""

    key: str
    modify_index: int
    value: bytes | None = None
    session: str = ""


class Result(msgspec.Struct, frozen=True):
    """What one operation of a transaction found or wrote."""

    kv: KeyValue = msgspec.field(name="KV")


class Objection(msgspec.Struct, frozen=True, rename="pascal"):
    """Why an operation of a transaction failed."""

    op_index: int
    what: str


class Transacted(msgspec.Struct, frozen=True, rename="pascal"):
    """The results of a transaction, or why it was not executed."""

    results: tuple[Result, ...] | None = None
    errors: tuple[Objection, ...] | None = None


class SessionMade(msgspec.Struct, frozen=True):
    """A new session."""

    id: str = msgspec.field(name="ID")


def decoded(body: bytes, kind: type[Message]) -> Message:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as error:
        raise Unavailable(
            f"the server is not Consul, or an unsupported version of it: {error}"
        ) from None


def get(key: str) -> Operation:
    """Read a key; the transaction fails if it does not exist."""
    return {"KV": {"Verb": "get", "Key": key}}


def put(key: str, value: bytes, flags: int = 0) -> Operation:
    """Write a key. Consul does nothing if it has that value and those flags already."""
    return {"KV": {"Verb": "set", "Key": key, "Value": value, "Flags": flags}}


def swap(key: str, value: bytes, index: int, flags: int = 0) -> Operation:
    """Write a key if it is still at the index; 0: if it does not exist."""
    return {"KV": {"Verb": "cas", "Key": key, "Value": value, "Index": index, "Flags": flags}}


def lock(key: str, value: bytes, session: str) -> Operation:
    """Write and lock a key, unless another session has locked it."""
    return {"KV": {"Verb": "lock", "Key": key, "Value": value, "Session": session}}


def delete(key: str) -> Operation:
    """Delete a key, if it exists."""
    return {"KV": {"Verb": "delete", "Key": key}}


def delete_at(key: str, index: int) -> Operation:
    """Delete a key if it is still at the index."""
    return {"KV": {"Verb": "delete-cas", "Key": key, "Index": index}}
