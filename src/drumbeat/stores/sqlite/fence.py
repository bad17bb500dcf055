"""Fence: the SQLite store's last word on who may write as a leader."""

from __future__ import annotations

import sqlite3

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Epoch, FenceRow, Lease, Outranked
from drumbeat.sqlite.database import Database
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import NODES


class SqliteFence:
    """The highest token seen of each election and domain, and the epoch that came of it."""

    def __init__(self, database: Database[StoreSession]) -> None:
        self._database = database

    async def claim(self, lease: Lease) -> Epoch | Outranked:
        """Turn a lease into an epoch."""
        return await self._database.write(lambda session: _claim(session, lease))

    async def read(self, election: str) -> FenceRow | None:
        """Who holds the fence of an election."""

        def question(connection: sqlite3.Connection) -> FenceRow | None:
            row = connection.execute(NODES.fence, (election,)).fetchone()
            if row is None:
                return None
            epoch, domain, token, holder = row
            return FenceRow(election, epoch, domain, token, NodeId(holder))

        return await self._database.read(question)


def _claim(session: StoreSession, lease: Lease) -> Epoch | Outranked:
    name, domain, token = lease.name, lease.domain, lease.token
    if not session.execute(NODES.raise_token, (name, domain, token)).fetchall():
        row = session.execute(NODES.fence, (name,)).fetchone()
        return Outranked(name, row[0] if row else 0)
    ((epoch,),) = session.execute(NODES.take_fence, (name, domain, token, lease.holder)).fetchall()
    return Epoch(name, epoch)
