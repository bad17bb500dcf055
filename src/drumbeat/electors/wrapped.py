"""Wrapped electors: what all electors around another one have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from drumbeat.model.errors import InvalidOption
from drumbeat.model.time.duration import parse_duration
from drumbeat.ports.elector import Elector, LoggingElector
from drumbeat.rules.leadership.elector_check import require_elector


@runtime_checkable
class Electing(Protocol):
    """An elector that can also campaign, resign and step down."""

    async def elect(self) -> bool:
        """Campaign; return whether this instance leads now."""
        ...

    async def resign(self, reason: str = ...) -> None:
        """Stop leading, and campaign no more until the next `elect`."""
        ...

    def step_down(self, reason: str) -> None:
        """Give up the present term, let others go first, and keep campaigning."""
        ...


class WrappedElector(ABC):
    """An elector around another. Campaigning and stepping down are passed to the innermost.

    Around an elector that can only say whether it leads, both do nothing.
    """

    def __init__(self, elector: Elector) -> None:
        require_elector(elector)
        self._elector = elector

    @abstractmethod
    async def is_leader(self) -> bool: ...

    async def elect(self) -> bool:
        await self.campaign()
        return await self.is_leader()

    async def campaign(self) -> None:
        """Let the innermost elector campaign, and return nothing."""
        if isinstance(self._elector, WrappedElector):
            await self._elector.campaign()
        elif isinstance(self._elector, Electing):
            await self._elector.elect()

    async def resign(self, reason: str = "resigned") -> None:
        if isinstance(self._elector, Electing):
            await self._elector.resign(reason)

    def step_down(self, reason: str) -> None:
        if isinstance(self._elector, Electing):
            self._elector.step_down(reason)

    def leave_logging(self) -> None:
        """Write no lines when the leadership changes, since an app around this elector does."""
        if isinstance(self._elector, LoggingElector):
            self._elector.leave_logging()


def positive(name: str, given: float | str) -> float:
    """The seconds of an option that is a duration; `InvalidOption` unless it is above zero."""
    seconds = parse_duration(given).total_seconds()
    if seconds <= 0:
        raise InvalidOption(f"{name} must be longer than zero, not {given!r}")
    return seconds
