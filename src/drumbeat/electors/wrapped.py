"""Wrapped: what all electors around another one have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from drumbeat.ports.elector import Elector
from drumbeat.rules.electors import require_elector


@runtime_checkable
class Electing(Protocol):
    """An elector that can also be told to stand, and not to."""

    async def elect(self) -> bool:
        """Stand in the election; whether this instance leads now."""
        ...

    async def resign(self, reason: str = ...) -> None:
        """Lead no more, and stand no more until the next `elect`."""
        ...

    def step_down(self, reason: str) -> None:
        """Give up the present term, let others go first, and go on standing."""
        ...


class WrappedElector(ABC):
    """An elector around another. To stand and to step down are handed on to the innermost.

    Around an elector that can only say whether it leads, both do nothing.
    """

    def __init__(self, elector: Elector) -> None:
        require_elector(elector)
        self._elector = elector

    @abstractmethod
    async def is_leader(self) -> bool:
        """Whether this instance leads now."""

    async def elect(self) -> bool:
        """Stand in the election; whether this instance leads now."""
        await self.stand()
        return await self.is_leader()

    async def stand(self) -> None:
        """Let the innermost stand, and ask nothing."""
        if isinstance(self._elector, WrappedElector):
            await self._elector.stand()
        elif isinstance(self._elector, Electing):
            await self._elector.elect()

    async def resign(self, reason: str = "resigned") -> None:
        """Lead no more, and stand no more until the next `elect`."""
        if isinstance(self._elector, Electing):
            await self._elector.resign(reason)

    def step_down(self, reason: str) -> None:
        """Give up the present term, let others go first, and go on standing."""
        if isinstance(self._elector, Electing):
            self._elector.step_down(reason)
