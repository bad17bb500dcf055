"""Nodes: the PostgreSQL store's `NodeStore`."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.document import node_from_text, node_to_text, progress_to_text
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Beat, NodeRecord, Pulse
from drumbeat.ports.store import At
from drumbeat.postgres.database import Database
from drumbeat.stores.postgres.instants import checked
from drumbeat.stores.postgres.lengths import SECOND
from drumbeat.stores.postgres.sql import NODES
from drumbeat.stores.postgres.texts import name


class PostgresNodes:
    """Heartbeats: one per node, for all that it holds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = NODES.of(database.names)

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        """Note that the node is alive and how its attempts go on; tell what happened to them."""
        rows = await self._database.fetch(
            self._sql.beat,
            name("a node's identity", beat.node.id),
            node_to_text(beat.node),
            round(beat.lifetime * SECOND),
            checked(at),
            [hold.job_id for hold in beat.holds],
            [hold.fence for hold in beat.holds],
            [hold.job_id for hold, _ in beat.progress],
            [hold.fence for hold, _ in beat.progress],
            [progress_to_text(progress) for _, progress in beat.progress],
        )
        beat_at, drain = rows[0][0], rows[0][1]
        current = {(row[2], row[3]): row[4] for row in rows}
        verdicts = [(hold, current.get((hold.job_id, hold.fence))) for hold in beat.holds]
        return Pulse(
            beat_at,
            tuple(hold for hold, cancel_requested in verdicts if cancel_requested),
            tuple(hold for hold, cancel_requested in verdicts if cancel_requested is None),
            drain,
        )

    async def leave(self, node: NodeId) -> None:
        """The node has stopped: its last heartbeat was worth nothing after all."""
        await self._database.fetch(self._sql.leave, node)

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        """All nodes that were not pruned, ordered by identity."""
        rows = await self._database.fetch(self._sql.nodes, checked(at))
        return [
            NodeRecord(node_from_text(node), beat_at, expires_at, alive, drain_requested)
            for node, beat_at, expires_at, alive, drain_requested in rows
        ]

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        rows = await self._database.fetch(self._sql.drain, sorted(set(nodes)))
        known = {node for (node,) in rows}
        return [node for node in nodes if node in known]
