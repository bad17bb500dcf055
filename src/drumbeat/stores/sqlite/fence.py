"""Fence: the SQLite store's last word on who may write as a leader."""

from __future__ import annotations

import sqlite3

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import TERMS_KEPT, Epoch, FenceRow, Lease, Outranked, TermRecord
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.paging import number_after, place
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_instant
from drumbeat.stores.sqlite.moment import Moment, check_at
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import NODES

LAST = 2**62
"""Beyond every epoch."""


class SqliteFence:
    """The highest token seen of each election and domain, and the epoch that came of it."""

    def __init__(self, database: Database[StoreSession]) -> None:
        self._database = database

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        """Turn a lease into an epoch, and keep the term in the history."""
        check_at(at)
        return await self._database.write(
            lambda session: _claim(session, lease, session.moment(at))
        )

    async def read(self, election: str) -> FenceRow | None:
        """Who holds the fence of an election."""

        def question(connection: sqlite3.Connection) -> FenceRow | None:
            row = connection.execute(NODES.fence, (election,)).fetchone()
            if row is None:
                return None
            epoch, domain, token, holder = row
            return FenceRow(election, epoch, domain, token, NodeId(holder))

        return await self._database.read(question)

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        """The terms of an election, latest first."""
        before = number_after(page, "term")
        asked = (election, LAST if before is None else min(before, LAST), page.size + 1)

        def question(connection: sqlite3.Connection) -> Page[TermRecord]:
            rows = connection.execute(NODES.terms, asked).fetchall()
            terms = tuple(
                TermRecord(name, epoch, NodeId(node), domain, token, to_instant(since))
                for name, epoch, node, domain, token, since in rows[: page.size]
            )
            more = len(rows) > page.size
            return Page(terms, place("term", terms[-1].epoch) if more else None)

        return await self._database.view(question)


def _claim(session: StoreSession, lease: Lease, now: Moment) -> Epoch | Outranked:
    name, domain, token = lease.name, lease.domain, lease.token
    if not session.execute(NODES.raise_token, (name, domain, token)).fetchall():
        row = session.execute(NODES.fence, (name,)).fetchone()
        return Outranked(name, row[0] if row else 0)
    ((epoch,),) = session.execute(NODES.take_fence, (name, domain, token, lease.holder)).fetchall()
    session.execute(NODES.keep_term, (name, epoch, lease.holder, domain, token, now.number))
    session.execute(NODES.forget_terms, (name, epoch - TERMS_KEPT))
    return Epoch(name, epoch)
