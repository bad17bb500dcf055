"""Nodes: the PostgreSQL store's `NodeStore`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.statements import NODES
from drumbeat.backends.postgres.store.storable_text import name
from drumbeat.backends.postgres.store.time import SECOND, checked
from drumbeat.model.encoding.document import node_from_text, node_to_text, progress_to_text
from drumbeat.model.fleet.node import Beat, NodeRecord, Pulse
from drumbeat.model.ids import NodeId
from drumbeat.ports.store import At


class NodeHolds(NamedTuple):
    """The composite type `node_holds`."""

    jobs: list[int]
    fences: list[int]


class NodeProgress(NamedTuple):
    """The composite type `node_progress`."""

    jobs: list[int]
    fences: list[int]
    progress: list[str]


class PostgresNodes:
    """Heartbeats: one per node, for all that it holds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = NODES.of(database.names)

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        rows = await self._database.fetch(
            self._sql.beat,
            name("a node's identity", beat.node.id),
            node_to_text(beat.node),
            round(beat.lifetime * SECOND),
            NodeHolds([hold.job_id for hold in beat.holds], [hold.fence for hold in beat.holds]),
            NodeProgress(
                [hold.job_id for hold, _ in beat.progress],
                [hold.fence for hold, _ in beat.progress],
                [progress_to_text(progress) for _, progress in beat.progress],
            ),
            checked(at),
        )
        current = {(row["job"], row["fence"]): row["cancel_requested"] for row in rows}
        verdicts = [(hold, current.get((hold.job_id, hold.fence))) for hold in beat.holds]
        return Pulse(
            rows[0]["beat_at"],
            tuple(hold for hold, cancel_requested in verdicts if cancel_requested),
            tuple(hold for hold, cancel_requested in verdicts if cancel_requested is None),
            rows[0]["drain_requested"],
        )

    async def leave(self, node: NodeId) -> None:
        await self._database.fetch(self._sql.leave, node)

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        rows = await self._database.fetch(self._sql.nodes, checked(at))
        return [
            NodeRecord(node_from_text(node), beat_at, expires_at, alive, drain_requested)
            for node, beat_at, expires_at, alive, drain_requested in rows
        ]

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        rows = await self._database.fetch(self._sql.drain, sorted(set(nodes)))
        known = {node for (node,) in rows}
        return [node for node in nodes if node in known]
