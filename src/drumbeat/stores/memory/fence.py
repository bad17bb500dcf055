"""Fence: the memory store's last word on who may write as a leader."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from drumbeat.model.errors import StaleEpoch
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Epoch, FenceRow, Lease, Outranked
from drumbeat.stores.memory.step import Step

EpochOf: TypeAlias = Callable[[int, Lease], int]
"""The epoch that a lease becomes, after the last one."""


def next_epoch(last: int, _lease: Lease) -> int:
    """The next number: the store is what all nodes have in common."""
    return last + 1


def epoch_by_token(last: int, lease: Lease) -> int:
    """The lease's token: where each instance has a store of its own, only that rises for all."""
    return max(last + 1, lease.token)


class MemoryFence:
    """The highest token seen of each election and domain, and the epoch that came of it."""

    def __init__(self, step: Step, epoch_of: EpochOf = next_epoch) -> None:
        self._step = step
        self._epoch_of = epoch_of
        self._rows: dict[str, FenceRow] = {}
        self._highest: dict[tuple[str, str], int] = {}

    async def claim(self, lease: Lease) -> Epoch | Outranked:
        """Turn a lease into an epoch."""
        with self._step:
            row = self._rows.get(lease.name)
            epoch = row.epoch if row else 0
            if not self.outranks(lease):
                return Outranked(lease.name, epoch)
            self._highest[lease.name, lease.domain] = lease.token
            number = self._epoch_of(epoch, lease)
            self._rows[lease.name] = FenceRow(
                lease.name, number, lease.domain, lease.token, lease.holder
            )
            return Epoch(lease.name, number)

    async def read(self, election: str) -> FenceRow | None:
        """Who holds the fence of an election."""
        with self._step:
            return self._rows.get(election)

    def outranks(self, lease: Lease) -> bool:
        """Whether the lease's token is above every one that was seen of its domain."""
        highest = self._highest.get((lease.name, lease.domain))
        return highest is None or lease.token > highest

    def leader_of(self, epoch: Epoch) -> NodeId:
        """The node that holds the fence by this epoch, else `StaleEpoch`."""
        row = self._rows.get(epoch.election)
        if row is None or row.epoch != epoch.number:
            raise StaleEpoch(ours=epoch.number, seen=row.epoch if row else 0)
        return row.holder
