"""Fence: decides who may write as a leader to the memory store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from drumbeat.backends.memory.store.step import Step
from drumbeat.backends.store_rules import page_of
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import TERMS_KEPT, Epoch, FenceRow, Lease, Outranked, TermRecord
from drumbeat.model.ids import NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.page_position import number_after

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
        self._terms: dict[str, deque[TermRecord]] = {}
        """The terms of each election, oldest first."""

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        with self._step as step:
            now = step.now(at)
            row = self._rows.get(lease.name)
            epoch = row.epoch if row else 0
            if not self.outranks(lease):
                return Outranked(lease.name, epoch)
            self._highest[lease.name, lease.domain] = lease.token
            number = self._epoch_of(epoch, lease)
            self._rows[lease.name] = FenceRow(
                lease.name, number, lease.domain, lease.token, lease.holder
            )
            terms = self._terms.setdefault(lease.name, deque(maxlen=TERMS_KEPT))
            terms.append(
                TermRecord(lease.name, number, lease.holder, lease.domain, lease.token, now)
            )
            return Epoch(lease.name, number)

    async def read(self, election: str) -> FenceRow | None:
        with self._step:
            return self._rows.get(election)

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        before = number_after(page, "term")
        with self._step:
            latest_first = reversed(self._terms.get(election, ()))
            matching = (term for term in latest_first if before is None or term.epoch < before)
            return page_of(matching, page.size, "term", lambda term: term.epoch)

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
