"""Fence: decides who may write as a leader to the SQLite store."""

from __future__ import annotations

import sqlite3

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import Moment, to_instant
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import NODES
from drumbeat.backends.store_rules import page_of
from drumbeat.model.fleet.lease import TERMS_KEPT, Epoch, FenceRow, Lease, Outranked, TermRecord
from drumbeat.model.ids import NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.page_position import number_after

LAST = 2**62
"""Above every epoch."""


class SqliteFence:
    """The highest token seen of each election and domain, and the epoch that came of it."""

    def __init__(self, database: Database[StoreSession]) -> None:
        self._database = database

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        return await self._database.write(
            lambda session: _claim(session, lease, session.moment(at))
        )

    async def read(self, election: str) -> FenceRow | None:
        return await self._database.read(lambda connection: fence_row(connection, election))

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        before = number_after(page, "term")
        asked = (election, LAST if before is None else min(before, LAST), page.size + 1)

        def question(connection: sqlite3.Connection) -> Page[TermRecord]:
            terms = (
                TermRecord(name, epoch, NodeId(node), domain, token, to_instant(since))
                for name, epoch, node, domain, token, since in connection.execute(
                    NODES.terms, asked
                )
            )
            return page_of(terms, page.size, "term", lambda term: term.epoch)

        return await self._database.view(question)


def fence_row(connection: sqlite3.Connection, election: str) -> FenceRow | None:
    row = connection.execute(NODES.fence, (election,)).fetchone()
    if row is None:
        return None
    epoch, domain, token, holder = row
    return FenceRow(election, epoch, domain, token, NodeId(holder))


def _claim(session: StoreSession, lease: Lease, now: Moment) -> Epoch | Outranked:
    name, domain, token = lease.name, lease.domain, lease.token
    if not session.execute(NODES.raise_token, (name, domain, token)).fetchall():
        held = fence_row(session.connection, name)
        return Outranked(name, held.epoch if held else 0)
    ((epoch,),) = session.execute(NODES.take_fence, (name, domain, token, lease.holder)).fetchall()
    session.execute(NODES.keep_term, (name, epoch, lease.holder, domain, token, now.number))
    session.execute(NODES.forget_terms, (name, epoch - TERMS_KEPT))
    return Epoch(name, epoch)
