"""DeadNodes: ends the lifetimes of nodes whose processes have ended, before they expire.

The store decides once more: a node that has sent a heartbeat since it vanished stays alive.
"""

from __future__ import annotations

from drumbeat.engine.leading.leader_watch import look_at
from drumbeat.engine.leading.witness_keeper import WitnessKeeper
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.model.events import NodeVanished
from drumbeat.model.ids import NodeId
from drumbeat.rules.leadership import witness_trust
from drumbeat.rules.leadership.witness_trust import Look, Suspicions


class DeadNodes:
    """Looks for the witnesses of all other nodes."""

    def __init__(self, node: NodeId, keeper: WitnessKeeper, context: ServiceContext) -> None:
        self._node = node
        self._keeper = keeper
        self._runtime = context.runtime
        self._bus = context.bus
        self._suspicions: Suspicions = {}
        self._last: Look | None = None

    async def declare_dead(self) -> int:
        """Look once, and end the lifetimes of those that are dead; return how many were."""
        timings = self._keeper.timings
        look = self._last = await look_at(self._keeper.witnesses, self._runtime.clock, self._last)
        patience = witness_trust.patience_at(
            look, timings.rescue_patience, self._keeper.lost_at, timings
        )
        self._suspicions = witness_trust.suspected(self._suspicions, look, patience)
        declared = 0
        for each in witness_trust.dead(self._suspicions, look):
            if each.node != self._node and await self._keeper.witnesses.declare_dead(each):
                declared += 1
                self._bus.emit(NodeVanished(each.node))
        return declared

    def next_look(self) -> float:
        """In how many seconds to look again."""
        return witness_trust.next_look(
            self._suspicions, self._runtime.clock.elapsed(), self._keeper.timings.rescue_every
        )
