"""The keeper: one heartbeat for the node and all that it holds.

The store's answer tells which attempts were cancelled and which are lost. A node that cannot reach
the store ends its attempts before the store may give them to others, counted on its own clock from
when the last heartbeat that got through was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drumbeat.engine.bus import Bus
from drumbeat.engine.patience import within
from drumbeat.engine.rooms import Rooms
from drumbeat.engine.run import CANCEL_GRACE
from drumbeat.engine.service import Service
from drumbeat.model.ending import GivenBack, Stopped
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.node import Beat, Node, Pulse
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import NodeStore, Topic


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """How often a node shows that it is alive, and how long it is believed, in seconds."""

    every: float = 5.0
    lifetime: float = 20.0

    def __post_init__(self) -> None:
        if self.every <= 0 or self.lifetime < 3 * self.every:
            raise ConfigurationError(
                f"node_lifetime must be at least three times heartbeat_every, so that one lost "
                f"heartbeat does no harm; {self.lifetime:g} s and {self.every:g} s are not"
            )


class Keeper(Service):
    """Keeps the node alive in the store's eyes."""

    name = "keeper"
    topics = (Topic.CANCELLATIONS,)

    def __init__(
        self,
        nodes: NodeStore,
        describe: Callable[[], Node],
        heartbeats: Heartbeats,
        rooms: Rooms,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._nodes = nodes
        self._describe = describe
        self._heartbeats = heartbeats
        self._rooms = rooms
        self._heard_at = runtime.clock.elapsed()
        self.on_drain: Callable[[], None] = lambda: None
        """Called when a person asked this node to drain."""

    def in_touch(self) -> bool:
        """Whether the store has heard of this node lately, so that jobs are safe with it."""
        return self._left() > 0

    async def once(self) -> float | None:
        """Send one heartbeat and act on the answer."""
        sent_at = self._runtime.clock.elapsed()
        try:
            async with within(self._runtime.clock, self._heartbeats.every):
                pulse = await self._nodes.beat(self._beat())
        except TimeoutError as error:
            self._give_up_in_time()
            raise Unavailable(f"the store did not take the heartbeat: {error}") from error
        except Exception:
            self._give_up_in_time()
            raise
        self._heard_at = sent_at
        self._heed(pulse)
        return self._heartbeats.every

    def _beat(self) -> Beat:
        return Beat(
            self._describe(),
            self._heartbeats.lifetime,
            self._rooms.unended,
            tuple(
                (hold, run.progress)
                for hold, run in self._rooms.runs.items()
                if run.progress is not None
            ),
        )

    def _heed(self, pulse: Pulse) -> None:
        for hold in pulse.cancelled:
            self._rooms.interrupt(hold, Stopped("cancelled"), CANCEL_GRACE)
        for hold in pulse.lost:
            self._rooms.interrupt(hold, GivenBack("another node has the job"), grace=0.0)
        if pulse.drain:
            self.on_drain()

    def _give_up_in_time(self) -> None:
        if self._left() >= self._heartbeats.every:
            return
        grace = min(max(0.0, self._left()), CANCEL_GRACE)
        for hold in self._rooms.unended:
            self._rooms.interrupt(hold, GivenBack("the store cannot be reached"), grace)

    def _left(self) -> float:
        """Seconds in which everything has to end if no heartbeat gets through."""
        silent = self._runtime.clock.elapsed() - self._heard_at
        return self._heartbeats.lifetime - self._heartbeats.every - silent
