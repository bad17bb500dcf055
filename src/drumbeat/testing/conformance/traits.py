"""Traits: the declared differences of a backend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.store import Store

PassTime: TypeAlias = Callable[[timedelta], Awaitable[None]]
"""Returns when that much time has passed on the backend's clock."""

PATIENCE = 30.0
"""Real seconds that a case waits at most for an expected event, also on a busy machine."""


@dataclass(frozen=True, slots=True)
class StoreTraits:
    """What the cases of a store need to know."""

    another: Callable[[], AbstractAsyncContextManager[Store]]
    """Opens a second, independent handle on the same data."""
    patience: float = PATIENCE


@dataclass(frozen=True, slots=True)
class CoordinatorTraits:
    """What the cases of a coordinator need to know."""

    another: Callable[[], AbstractAsyncContextManager[Coordinator]]
    """Opens a second, independent handle on the same data."""
    pass_time: PassTime
    ttl: timedelta
    """The shortest TTL that the backend supports."""
    expires_within: timedelta
    """How long after its last renewal a term is over; some servers end it later than its TTL."""
    lasting: timedelta = timedelta(seconds=30)
    """A TTL that is longer than any case that does not wait for its end."""
    overdue: timedelta = timedelta(0)
    """How much later a busy server may end a term; zero where the end is only compared."""
    patience: float = PATIENCE


@dataclass(frozen=True, slots=True)
class QueueTraits:
    """What the cases of a queue need to know."""

    pass_time: PassTime
    hint: Callable[[], Awaitable[None]]
    """Makes the queue wake its receivers of the queue `default` once, as its backend does."""
    idle: timedelta = timedelta(seconds=1)
    """A time after which an unacknowledged ticket may be reclaimed."""
    patience: float = PATIENCE
