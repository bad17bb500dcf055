"""Fenced electors: each term has a number, and a new number is a new term."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from drumbeat.electors.wrapped import WrappedElector
from drumbeat.ports.elector import Elector

ReadEpoch: TypeAlias = Callable[[], int | Awaitable[int | None] | None]


def fenced(elector: Elector, epoch: ReadEpoch) -> FencedElector:
    """Lead only under a number that is at least as high as all that were seen before.

    `epoch` reads the number of the present term, from the coordinator or from the system that is
    written to: `lambda: election.token`. If it has changed since the last yes, the earlier term is
    over, even if the elector says yes again: the answer is no once, so that the caller stops, and
    then the new term begins. A lower number always means no.
    """
    return FencedElector(elector, epoch)


class FencedElector(WrappedElector):
    """An elector whose terms have numbers."""

    def __init__(self, elector: Elector, epoch: ReadEpoch) -> None:
        super().__init__(elector)
        self._read = epoch
        self._epoch: int | None = None
        self._highest: int | None = None

    @property
    def epoch(self) -> int | None:
        """The number of the term under which the last answer was yes; None: it was no.

        Pass it to the system that you write to, and let that refuse lower ones.
        """
        return self._epoch

    async def is_leader(self) -> bool:
        """Whether this instance leads under the same number as before, if it led before."""
        before, self._epoch = self._epoch, None
        if not await self._elector.is_leader():
            return False
        answer = self._read()
        number = await answer if inspect.isawaitable(answer) else answer
        if number is None or (self._highest is not None and number < self._highest):
            return False
        self._highest = number
        if before is not None and number != before:
            return False
        self._epoch = number
        return True
