"""WorkerParts: what a worker takes jobs from, and for which pools."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.working.node_state import NodeState
from drumbeat.engine.working.pools import ExecutionPools
from drumbeat.model.ids import NodeId
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerParts:
    """What a worker takes jobs from, and for which pools."""

    node: NodeId
    queues: tuple[str, ...]
    poll: float | None
    """Seconds to sleep at most without a hint; None: hints always come."""
    store: Store
    tickets: Queue
    registry: TaskRegistry
    pools: ExecutionPools
    state: NodeState
