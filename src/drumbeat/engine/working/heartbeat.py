"""The heartbeat: one heartbeat for the node and all attempts that it holds.

The store's answer names the attempts that were cancelled or lost. A node that cannot reach the
store ends its attempts before the store may give them to others, counted on its own clock from when
the last successful heartbeat was sent.
"""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.engine.executing.run import CANCEL_GRACE
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.working.node_state import NodeState
from drumbeat.engine.working.pools import ExecutionPools
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Beat, Node, Pulse
from drumbeat.model.jobs.ending import GivenBack, Stopped
from drumbeat.ports.store import NodeStore, Topic


class Heartbeat(Service):
    """Keeps the node alive for the store."""

    name = "heartbeat"
    topics = (Topic.CANCELLATIONS,)

    def __init__(
        self,
        nodes: NodeStore,
        pools: ExecutionPools,
        state: NodeState,
        context: ServiceContext,
        *,
        describe: Callable[[], Node],
    ) -> None:
        super().__init__(context)
        self._nodes = nodes
        self._describe = describe
        self._pools = pools
        self._state = state

    async def once(self) -> float | None:
        """Send one heartbeat and act on the answer."""
        sent_at = self._runtime.clock.elapsed()
        try:
            async with timeout_after(self._runtime.clock, self._state.heartbeats.every):
                pulse = await self._nodes.beat(self._beat())
        except TimeoutError as error:
            self._give_up_in_time()
            raise Unavailable(f"the store did not take the heartbeat: {error}") from error
        except Exception:
            self._give_up_in_time()
            raise
        self._state.last_beat_at = sent_at
        self._apply(pulse)
        return self._state.beat_every

    def _beat(self) -> Beat:
        return Beat(
            self._describe(),
            self._state.heartbeats.lifetime,
            self._pools.unended,
            tuple(
                (hold, run.progress)
                for hold, run in self._pools.attempts.runs.items()
                if run.progress is not None
            ),
        )

    def _apply(self, pulse: Pulse) -> None:
        for hold in pulse.cancelled:
            self._pools.interrupt(hold, Stopped("cancelled"), CANCEL_GRACE)
        for hold in pulse.lost:
            self._pools.interrupt(hold, GivenBack("another node has the job"), grace=0.0)
        if pulse.drain:
            self._state.drain_requested.set()

    def _give_up_in_time(self) -> None:
        if self._state.time_left >= self._state.heartbeats.every:
            return
        grace = min(max(0.0, self._state.time_left), CANCEL_GRACE)
        for hold in self._pools.unended:
            self._pools.interrupt(hold, GivenBack("the store cannot be reached"), grace)
