"""Traits: how a backend differs from the others, declared by its test module."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.store import Store

PassTime: TypeAlias = Callable[[timedelta], Awaitable[None]]
"""Returns when so much time has passed on the backend's clock."""

PATIENCE = 30.0
"""Seconds, in truth, that a case waits for what must come soon: on a busy machine, too."""


@dataclass(frozen=True, slots=True)
class StoreTraits:
    """What a store's cases need to know."""

    another: Callable[[], AbstractAsyncContextManager[Store]]
    """Opens a second, independent handle on the same data."""
    patience: float = PATIENCE


@dataclass(frozen=True, slots=True)
class CoordinatorTraits:
    """What a coordinator's cases need to know."""

    another: Callable[[], AbstractAsyncContextManager[Coordinator]]
    """Opens a second, independent handle on the same data."""
    pass_time: PassTime
    ttl: timedelta
    """A TTL that the backend takes, as short as it can honour."""
    expires_within: timedelta
    """How long after the last renewal a term is over; some servers take their time."""
    lasting: timedelta = timedelta(seconds=30)
    """A TTL that no case outlives that does not wait for its end, however busy the machine is."""
    overdue: timedelta = timedelta(0)
    """How much later still a busy server may end a term; none where its end is a comparison."""
    patience: float = PATIENCE


@dataclass(frozen=True, slots=True)
class QueueTraits:
    """What a queue's cases need to know."""

    pass_time: PassTime
    hint: Callable[[], Awaitable[None]]
    """Makes the queue wake its receivers of the queue `default` once, as its backend does."""
    idle: timedelta = timedelta(seconds=1)
    """A time after which an unacknowledged ticket may be reclaimed."""
    patience: float = PATIENCE
