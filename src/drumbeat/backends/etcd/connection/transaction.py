"""Transactions: operations that etcd executes atomically if all comparisons hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = "Mapping[str, Json] | tuple[Json, ...] | str | bytes | int"

Comparison: TypeAlias = Mapping[str, Json]
Operation: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Keys:
    """One key, or all that begin with a prefix."""

    first: bytes
    end: bytes = b""
    """The first key after the range; empty: the range is one key."""

    @classmethod
    def below(cls, prefix: str) -> Keys:
        """All keys that begin with a prefix, which must not end with the byte 0xff."""
        encoded = prefix.encode()
        return cls(encoded, encoded[:-1] + bytes([encoded[-1] + 1]))

    @classmethod
    def only(cls, key: str) -> Keys:
        return cls(key.encode())

    def as_json(self) -> Mapping[str, Json]:
        return {"key": self.first, "range_end": self.end} if self.end else {"key": self.first}


@dataclass(frozen=True, slots=True)
class Transaction:
    """`then` if every comparison holds, else `otherwise`."""

    when: tuple[Comparison, ...] = ()
    then: tuple[Operation, ...] = ()
    otherwise: tuple[Operation, ...] = ()

    def as_json(self) -> Mapping[str, Json]:
        return {"compare": self.when, "success": self.then, "failure": self.otherwise}


def created_at(key: str, revision: int) -> Comparison:
    """The key was created at this revision; 0: it does not exist."""
    return {"key": key.encode(), "target": "CREATE", "create_revision": revision}


def exists(key: str) -> Comparison:
    return {"key": key.encode(), "target": "CREATE", "result": "GREATER", "create_revision": 0}


def written_at(key: str, revision: int) -> Comparison:
    """The key was last written at this revision; 0: it does not exist."""
    return {"key": key.encode(), "target": "MOD", "mod_revision": revision}


def holds(key: str, value: bytes) -> Comparison:
    return {"key": key.encode(), "target": "VALUE", "value": value}


def bound_to(key: str, lease: int) -> Comparison:
    """The key is deleted when this lease ends."""
    return {"key": key.encode(), "target": "LEASE", "lease": lease}


def get(key: str) -> Operation:
    return {"request_range": {"key": key.encode()}}


def put(key: str, value: bytes, lease: int = 0) -> Operation:
    """Write a key; it is deleted when the lease ends, if one is given."""
    return {"request_put": {"key": key.encode(), "value": value, "lease": lease}}


def delete(key: str) -> Operation:
    return {"request_delete_range": {"key": key.encode()}}
