"""Nodes: the memory store's `NodeStore`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.step import Step
from drumbeat.model.fleet.node import Beat, NodeRecord, Pulse, Vanished
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Hold
from drumbeat.ports.store import At

DIED = timedelta(milliseconds=1)
"""How long after its last heartbeat a dead node expires; one that stopped in order, at once."""


class MemoryNodes:
    """Heartbeats: one per node, for all that it holds."""

    def __init__(self, step: Step, table: JobTable) -> None:
        self._step = step
        self._table = table
        self._records: dict[NodeId, NodeRecord] = {}

    def __len__(self) -> int:
        return len(self._records)

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        with self._step as step:
            now = step.now(at)
            known = self._records.get(beat.node.id)
            drain = known is not None and known.drain_requested
            expires_at = now + timedelta(seconds=beat.lifetime)
            self._records[beat.node.id] = NodeRecord(beat.node, now, expires_at, True, drain)
            for hold, progress in beat.progress:
                record = self._table.holder(hold)
                if record is not None:
                    record.progress = progress
            cancelled, lost = self._verdicts_on(beat.holds)
            return Pulse(now, tuple(cancelled), tuple(lost), drain)

    async def leave(self, node: NodeId) -> None:
        with self._step:
            record = self._records.get(node)
            if record is not None:
                self._records[node] = replace(record, expires_at=record.beat_at)

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        with self._step as step:
            now = step.now(at)
            return [
                replace(record, alive=record.expires_at > now)
                for _, record in sorted(self._records.items())
            ]

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        with self._step:
            known = [node for node in nodes if node in self._records]
            for node in known:
                self._records[node] = replace(self._records[node], drain_requested=True)
            return known

    async def witnessed(self, at: At = None) -> Sequence[Vanished]:
        """The nodes that are alive and have a witness, whether or not it is free."""
        with self._step as step:
            now = step.now(at)
            return [
                Vanished(node, record.node.witness, record.beat_at)
                for node, record in sorted(self._records.items())
                if record.node.witness is not None and record.expires_at > now
            ]

    async def declare_dead(self, vanished: Vanished) -> bool:
        """End the lifetime of a node that has sent no heartbeat since."""
        with self._step:
            record = self._records.get(vanished.node)
            if record is None or record.beat_at != vanished.beat_at:
                return False
            over = record.beat_at + DIED
            if record.expires_at <= over:
                return False
            self._records[vanished.node] = replace(record, expires_at=over)
            return True

    def alive(self, node: NodeId, now: datetime) -> bool:
        """Whether a node's last heartbeat is not over. The caller holds the step."""
        record = self._records.get(node)
        return record is not None and record.expires_at > now

    def prune(self, ended_before: datetime, limit: int) -> int:
        """Delete nodes whose heartbeat ended by then. The caller holds the step."""
        over = [
            node for node, record in self._records.items() if record.expires_at <= ended_before
        ][:limit]
        for node in over:
            del self._records[node]
        return len(over)

    def _verdicts_on(
        self, holds: Sequence[Hold]
    ) -> tuple[builtins.list[Hold], builtins.list[Hold]]:
        cancelled: builtins.list[Hold] = []
        lost: builtins.list[Hold] = []
        for hold in holds:
            record = self._table.holder(hold)
            if record is None:
                lost.append(hold)
            elif record.cancel_requested:
                cancelled.append(hold)
        return cancelled, lost
