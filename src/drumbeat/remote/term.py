"""Term: how the holder of a name and the TTL that was asked for are written as one value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import msgspec

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease

MICROSECOND = timedelta(microseconds=1)


class _Written(msgspec.Struct):
    holder: str
    ttl: int
    """In microseconds, as it was asked for: the server's own may be longer."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What only the server knows of a term: the number that it gave, and which server it is."""

    domain: str
    token: int


def written(holder: NodeId, ttl: timedelta) -> bytes:
    """The value of a key that stands for a held name."""
    return msgspec.json.encode(_Written(holder, ttl // MICROSECOND))


def read(name: str, value: bytes, grant: Grant) -> Lease | None:
    """The term that a value speaks of; None: somebody else wrote it, and it is no term of ours."""
    try:
        term = msgspec.json.decode(value, type=_Written)
    except msgspec.DecodeError:
        return None
    return Lease(
        name, NodeId(term.holder), grant.domain, grant.token, timedelta(microseconds=term.ttl)
    )


def same(one: Lease, other: Lease) -> bool:
    """Whether both are one term. A later one of the same holder has another token."""
    return (one.name, one.holder, one.domain, one.token) == (
        other.name,
        other.holder,
        other.domain,
        other.token,
    )
