"""Line: a priority queue for entries that mostly come in order."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry", bound=tuple[Any, ...])  # Any: entries differ behind their sort key


class Line(Generic[Entry]):
    """Gives entries back smallest first.

    An entry that is not smaller than the last one is appended, which is the usual case and costs
    next to nothing; the others go into a heap beside.
    """

    __slots__ = ("_ordered", "_strays")

    def __init__(self) -> None:
        self._ordered: deque[Entry] = deque()
        self._strays: list[Entry] = []

    def __len__(self) -> int:
        return len(self._ordered) + len(self._strays)

    def push(self, entry: Entry) -> None:
        """Put an entry in its place."""
        ordered = self._ordered
        if ordered and entry < ordered[-1]:
            heappush(self._strays, entry)
        else:
            ordered.append(entry)

    def first(self) -> Entry | None:
        """The smallest entry, left in its place."""
        ordered, strays = self._ordered, self._strays
        if strays and (not ordered or strays[0] < ordered[0]):
            return strays[0]
        return ordered[0] if ordered else None

    def pop(self) -> Entry:
        """Take the smallest entry out."""
        ordered, strays = self._ordered, self._strays
        if strays and (not ordered or strays[0] < ordered[0]):
            return heappop(strays)
        return ordered.popleft()
