"""Fence: the PostgreSQL store's last word on who may write as a leader."""

from __future__ import annotations

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Epoch, FenceRow, Lease, Outranked
from drumbeat.postgres.database import Database
from drumbeat.stores.postgres.sql import NODES


class PostgresFence:
    """The highest token seen of each election and domain, and the epoch that came of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = NODES.of(database.names)

    async def claim(self, lease: Lease) -> Epoch | Outranked:
        """Turn a lease into an epoch."""
        ((claimed, number),) = await self._database.fetch(
            self._sql.claim_fence, lease.name, lease.domain, lease.token, lease.holder
        )
        return Epoch(lease.name, number) if claimed else Outranked(lease.name, number)

    async def read(self, election: str) -> FenceRow | None:
        """Who holds the fence of an election."""
        row = await self._database.fetch_row(self._sql.fence, election)
        if row is None:
            return None
        epoch, domain, token, holder = row
        return FenceRow(election, epoch, domain, token, NodeId(holder))
