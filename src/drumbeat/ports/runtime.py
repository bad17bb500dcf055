"""The runtime: clock, randomness and isolation, injected together.

In production isolated work gets a thread and an event loop of its own. In the simulator and in
tests everything runs on one loop, in an order that can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from random import Random  # noqa: TID251 - the type only; the generator itself is injected
from typing import Any, Protocol

from drumbeat.ports.clock import Clock


class Isolated(Protocol):
    """Work that runs beside the event loop, so that user code which blocks it cannot starve it."""

    def call_home(self, callback: Callable[[], None]) -> None:
        """From the isolated side: call back on the loop that started the work."""
        ...

    def call_inside(self, callback: Callable[[], None]) -> None:
        """From the outside: call back on the loop that the work runs on."""
        ...

    async def ended(self) -> None:
        """Return when the work has ended."""
        ...

    def cancel(self) -> None:
        """Cancel the work, from the outside."""
        ...


class Runtime(Protocol):
    """What a node runs on."""

    @property
    def clock(self) -> Clock:
        """Its clock."""
        ...

    @property
    def random(self) -> Random:
        """Its source of randomness."""
        ...

    def spawn_isolated(
        self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]
    ) -> Isolated:
        """Start work that must go on even while the event loop is blocked."""
        ...
