"""The runtime: clock, randomness and isolation, injected together.

In production isolated work runs on a thread and an event loop of its own. In the simulator and in
tests everything runs on one loop, in a reproducible order.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from random import Random  # noqa: TID251 - the type only; the generator itself is injected
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from drumbeat.ports.clock import Clock


class Isolated(Protocol):
    """Work that runs apart from the event loop, so that user code cannot block it."""

    def call_home(self, callback: Callable[[], None]) -> None:
        """From the isolated work: call back on the loop that started it."""
        ...

    def call_inside(self, callback: Callable[[], None]) -> None:
        """From outside: call back on the loop that the work runs on."""
        ...

    async def ended(self) -> None: ...

    def cancel(self) -> None:
        """Cancel the work, from outside."""
        ...


class Runtime(Protocol):
    """What a node runs on."""

    @property
    def clock(self) -> Clock: ...

    @property
    def random(self) -> Random: ...

    def spawn_isolated(
        self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]
    ) -> Isolated:
        """Start work that must go on even while the event loop is blocked."""
        ...
