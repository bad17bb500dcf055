"""Terms: how etcd and Consul keep the holder of a name and its TTL as the value of a key."""

from __future__ import annotations

from datetime import timedelta
from typing import Generic, NamedTuple, TypeVar

import msgspec

from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId

Bond = TypeVar("Bond")

MICROSECOND = timedelta(microseconds=1)


class _Value(msgspec.Struct):
    holder: str
    ttl: int
    """In microseconds, as it was asked for: the server's own TTL may be longer."""


class Grant(NamedTuple):
    """What the server decided about a term: its domain and its token."""

    domain: str
    token: int


class Term(NamedTuple, Generic[Bond]):
    """A term, and the etcd lease or Consul session whose end also ends the term."""

    lease: Lease
    bond: Bond


class AcquiredTerms(Generic[Bond]):
    """The last term of each name that this process acquired, so that a renewal need not read it."""

    def __init__(self) -> None:
        self._terms: dict[str, Term[Bond]] = {}

    def find(self, lease: Lease) -> Term[Bond] | None:
        term = self._terms.get(lease.name)
        return term if term is not None and is_same_term(term.lease, lease) else None

    def keep(self, term: Term[Bond]) -> None:
        self._terms[term.lease.name] = term

    def forget(self, lease: Lease) -> None:
        if self.find(lease) is not None:
            del self._terms[lease.name]


def encode_term(holder: NodeId, ttl: timedelta) -> bytes:
    return msgspec.json.encode(_Value(holder, ttl // MICROSECOND))


def decode_term(name: str, value: bytes, grant: Grant) -> Lease | None:
    """The lease that a key's value describes; None: Drumbeat did not write this value."""
    try:
        term = msgspec.json.decode(value, type=_Value)
    except msgspec.DecodeError:
        return None
    return Lease(name, NodeId(term.holder), *grant, timedelta(microseconds=term.ttl))


def is_same_term(one: Lease, other: Lease) -> bool:
    """Whether both are one term. A later term of the same holder has another token."""
    return (one.name, one.holder, one.domain, one.token) == (
        other.name,
        other.holder,
        other.domain,
        other.token,
    )
