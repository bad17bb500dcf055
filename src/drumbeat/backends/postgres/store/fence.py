"""Fence: the highest epoch of each election in PostgreSQL."""

from __future__ import annotations

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.jobs.list_query import LARGEST_ID
from drumbeat.backends.postgres.store.statements import NODES
from drumbeat.backends.postgres.store.time import checked
from drumbeat.model.fleet.lease import TERMS_KEPT, Epoch, FenceRow, Lease, Outranked, TermRecord
from drumbeat.model.ids import NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.page_position import number_after, place


class PostgresFence:
    """The highest token of each election and domain, and the epochs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = NODES.of(database.names)

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        ((claimed, number),) = await self._database.fetch(
            self._sql.claim_fence,
            lease.name,
            lease.domain,
            lease.token,
            lease.holder,
            TERMS_KEPT,
            checked(at),
        )
        return Epoch(lease.name, number) if claimed else Outranked(lease.name, number)

    async def read(self, election: str) -> FenceRow | None:
        row = await self._database.fetch_row(self._sql.fence, election)
        if row is None:
            return None
        epoch, domain, token, holder = row
        return FenceRow(election, epoch, domain, token, NodeId(holder))

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        before = number_after(page, "term")
        last = LARGEST_ID if before is None else min(before, LARGEST_ID)
        rows = await self._database.fetch(self._sql.terms, election, last, page.size + 1)
        terms = tuple(
            TermRecord(name, epoch, NodeId(node), domain, token, since)
            for name, epoch, node, domain, token, since in rows[: page.size]
        )
        return Page(terms, place("term", terms[-1].epoch) if len(rows) > page.size else None)
