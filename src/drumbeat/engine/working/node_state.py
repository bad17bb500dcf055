"""NodeState: what the services of one node share: its heartbeats, its drain and its leadership."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drumbeat.model.errors import ConfigurationError
from drumbeat.ports.clock import Clock

if TYPE_CHECKING:
    from drumbeat.engine.leading.leadership import Leadership
    from drumbeat.engine.leading.witness_keeper import WitnessKeeper

BEAT_MISSING = 0.5
"""Seconds between two heartbeats of a node whose witness others see free."""


@dataclass(frozen=True, slots=True)
class HeartbeatTimings:
    """How often a node shows that it is alive, and how long it is believed, in seconds."""

    every: float = 5.0
    lifetime: float = 20.0

    def __post_init__(self) -> None:
        if self.every <= 0 or self.lifetime < 3 * self.every:
            raise ConfigurationError(
                f"node_lifetime must be at least three times heartbeat_every, so that one lost "
                f"heartbeat does no harm; {self.lifetime:g} s and {self.every:g} s are not"
            )


class NodeState:
    """Written by the heartbeat and the node; read by everything that claims or begins jobs."""

    def __init__(
        self,
        heartbeats: HeartbeatTimings,
        clock: Clock,
        leadership: Leadership | None = None,
        *,
        followers_idle: bool = False,
        witness: WitnessKeeper | None = None,
    ) -> None:
        self.heartbeats = heartbeats
        self.leadership = leadership
        """None: the node never leads."""
        self.followers_idle = followers_idle
        """Whether the node takes jobs only while it leads."""
        self.witness = witness
        """What holds the witness of the node; None: the store has no witnesses."""
        self._clock = clock
        self.last_beat_at = clock.elapsed()
        """When the last heartbeat that the store answered was sent, by elapsed time."""
        self.drain_requested = asyncio.Event()
        """Set when a person has asked for this node to be drained."""

    @property
    def epoch(self) -> int | None:
        """The epoch of the node's present term; None while it does not lead."""
        term = self.leadership.term if self.leadership is not None else None
        return None if term is None else term.epoch.number

    @property
    def beat_every(self) -> float:
        """Seconds until the next heartbeat. Without its witness, a node shows that it lives."""
        missing = self.witness is not None and self.witness.missing
        return min(self.heartbeats.every, BEAT_MISSING) if missing else self.heartbeats.every

    @property
    def leads(self) -> bool:
        return self.leadership is not None and self.leadership.term is not None

    @property
    def time_left(self) -> float:
        """Seconds in which all attempts must end if no further heartbeat gets through."""
        silent = self._clock.elapsed() - self.last_beat_at
        return self.heartbeats.lifetime - self.heartbeats.every - silent

    @property
    def may_hold_jobs(self) -> bool:
        """Whether the store receives its heartbeats; other nodes get the jobs of a silent node."""
        return self.time_left > 0 and (self.leads or not self.followers_idle)
