"""S23: a node is declared dead only if it has been silent for long enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from drumbeat.model.fleet.node import Beat, Vanished
from drumbeat.model.ids import NodeId
from drumbeat.rules.leadership.witness_trust import WitnessTimings
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher
from simulation.history import ExecutedRequest, History

SILENCE = WitnessTimings().rescue_patience * 0.97
"""Seconds, with the error of a clock rate that a leader may have."""


class SilentBeforeBuried(ServerWatcher):
    """S23: a free witness alone is no death: the store has had no heartbeat for the patience."""

    calls = frozenset({"beat", "declare_dead"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._beats: dict[NodeId, float] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        if step.error is not None:
            return
        if step.call == "beat":
            self._beats[cast("Beat", step.arguments[0]).node.id] = step.server_elapsed
        elif step.answer and "clock drift" not in self.history.kinds:
            node = cast("Vanished", step.arguments[0]).node
            silent = step.server_elapsed - self._beats[node]
            if silent < SILENCE:
                text = f"{step.by} declared {node} dead {silent:.3f} s after its heartbeat"
                yield Violation("S23", step.at, text)
