"""Bonds: etcd leases or Consul sessions, whose end deletes the keys that are bound to them."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Protocol, TypeVar

from drumbeat.model.errors import Unavailable

Bond = TypeVar("Bond")


class Bonds(Protocol[Bond]):
    """The calls for bonds of an etcd or Consul client."""

    async def make_bond(self, ttl: timedelta) -> Bond:
        """Create a bond. If the answer is lost, the bond ends by itself."""
        ...

    async def renew_bond(self, bond: Bond) -> bool:
        """Renew the bond for its whole TTL. False: it is over."""
        ...

    async def end_bond(self, bond: Bond) -> bool:
        """End a bond, and delete the keys that are bound to it. False: it was over."""
        ...


async def drop(bonds: Bonds[Bond], bond: Bond) -> None:
    """End a bond that is not needed any more; if that fails, it ends by itself."""
    with suppress(Unavailable):
        await bonds.end_bond(bond)
