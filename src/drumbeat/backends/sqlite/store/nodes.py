"""Nodes: the SQLite store's `NodeStore`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import SECOND, Moment, moment, to_instant
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import NODES, json_list
from drumbeat.model.encoding.document import node_from_text, node_to_text, progress_to_text
from drumbeat.model.fleet.node import Beat, NodeRecord, Pulse
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At


class SqliteNodes:
    """Heartbeats: one per node, for all that it holds."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        return await self._database.write(lambda session: _beat(session, beat, session.moment(at)))

    async def leave(self, node: NodeId) -> None:
        await self._database.write(lambda session: session.execute(NODES.leave, (node,)).close())

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        now = moment(self._clock, at)

        def question(connection: sqlite3.Connection) -> Sequence[NodeRecord]:
            return [
                NodeRecord(
                    node_from_text(node),
                    to_instant(beat_at),
                    to_instant(expires_at),
                    expires_at > now.number,
                    bool(drain_requested),
                )
                for node, beat_at, expires_at, drain_requested in connection.execute(NODES.nodes)
            ]

        return await self._database.read(question)

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        return await self._database.write(
            lambda session: [
                node for node in nodes if session.execute(NODES.drain, (node,)).fetchall()
            ]
        )


def _beat(session: StoreSession, beat: Beat, now: Moment) -> Pulse:
    expires_at = now.number + round(beat.lifetime * SECOND)
    row = (beat.node.id, node_to_text(beat.node), now.number, expires_at)
    ((drain,),) = session.execute(NODES.beat, row).fetchall()
    for hold, progress in beat.progress:
        values = (progress_to_text(progress), hold.job_id, hold.fence)
        session.execute(NODES.progress, values)
    held: dict[tuple[int, int], int] = {}
    if beat.holds:
        ids = json_list([hold.job_id for hold in beat.holds])
        rows = session.execute(NODES.holds, (ids,))
        held = {(job_id, fence): cancel_requested for job_id, fence, cancel_requested in rows}
    verdicts = [(hold, held.get((hold.job_id, hold.fence))) for hold in beat.holds]
    return Pulse(
        now.instant,
        tuple(hold for hold, cancel_requested in verdicts if cancel_requested),
        tuple(hold for hold, cancel_requested in verdicts if cancel_requested is None),
        bool(drain),
    )
