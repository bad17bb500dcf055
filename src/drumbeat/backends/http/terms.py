"""Terms: how etcd and Consul keep the holder of a name and its TTL as the value of a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Generic, NamedTuple

import msgspec

from drumbeat.backends.http.bonds import Bond
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId

MICROSECOND = timedelta(microseconds=1)


class _Value(msgspec.Struct):
    holder: str
    ttl: int
    """In microseconds, as it was asked for: the server's own TTL may be longer."""


class HeldKey(NamedTuple, Generic[Bond]):
    """The key of a name that is held."""

    value: bytes
    token: int
    bond: Bond


class NameState(NamedTuple, Generic[Bond]):
    """The server's domain, and the key of a name; None: the name is vacant."""

    domain: str
    held: HeldKey[Bond] | None


class Term(NamedTuple, Generic[Bond]):
    """A term, and the bond whose end also ends the term."""

    lease: Lease
    bond: Bond

    def continues(self, lease: Lease) -> bool:
        """Whether both are one term. A later term of the same holder has another token."""
        return replace(self.lease, ttl=lease.ttl) == lease


def encode_term(holder: NodeId, ttl: timedelta) -> bytes:
    return msgspec.json.encode(_Value(holder, ttl // MICROSECOND))


def decode_term(name: str, state: NameState[Bond] | None) -> Term[Bond] | None:
    """The term that the name has; None: none, or Drumbeat did not write the key."""
    if state is None or state.held is None:
        return None
    value, token, bond = state.held
    try:
        term = msgspec.json.decode(value, type=_Value)
    except msgspec.DecodeError:
        return None
    ttl = timedelta(microseconds=term.ttl)
    return Term(Lease(name, NodeId(term.holder), state.domain, token, ttl), bond)
