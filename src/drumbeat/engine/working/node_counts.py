"""NodeCounts: what a node has done since its start, for its heartbeats and its registration."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.fleet.node import NodeMetrics
from drumbeat.model.jobs.job import Attempt, Settled, Status, Superseded


class NodeCounts:
    """Counted in batches by the services of the node: a job costs some tens of nanoseconds."""

    def __init__(self) -> None:
        self._claimed = self._completed = self._failed = self._fired = 0
        self._last_claim_at: datetime | None = None

    @property
    def metrics(self) -> NodeMetrics:
        """The numbers so far."""
        return NodeMetrics(
            self._claimed, self._completed, self._failed, self._fired, self._last_claim_at
        )

    def claimed(self, attempts: Sequence[Attempt]) -> None:
        if attempts:
            self._claimed += len(attempts)
            self._last_claim_at = attempts[-1].started_at

    def settled(self, verdicts: Sequence[Settled | Superseded]) -> None:
        for verdict in verdicts:
            if isinstance(verdict, Settled):
                if verdict.status is Status.COMPLETED:
                    self._completed += 1
                elif verdict.status is Status.FAILED:
                    self._failed += 1

    def fired(self) -> None:
        self._fired += 1
