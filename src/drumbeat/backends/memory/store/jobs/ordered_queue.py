"""Ordered queue: a priority queue for entries that mostly come in order."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry", bound=tuple[Any, ...])  # Any: entries differ behind their sort key


class OrderedQueue(Generic[Entry]):
    """Returns entries smallest first.

    An entry that is not smaller than the last one is appended, which is the usual case and costs
    next to nothing; the others go into a heap.
    """

    __slots__ = ("_ordered", "_strays")

    def __init__(self) -> None:
        self._ordered: deque[Entry] = deque()
        self._strays: list[Entry] = []

    def __len__(self) -> int:
        return len(self._ordered) + len(self._strays)

    def push(self, entry: Entry) -> None:
        ordered = self._ordered
        if ordered and entry < ordered[-1]:
            heappush(self._strays, entry)
        else:
            ordered.append(entry)

    def first(self) -> Entry | None:
        ordered, strays = self._ordered, self._strays
        if strays and (not ordered or strays[0] < ordered[0]):
            return strays[0]
        return ordered[0] if ordered else None

    def pop(self) -> Entry:
        ordered, strays = self._ordered, self._strays
        if strays and (not ordered or strays[0] < ordered[0]):
            return heappop(strays)
        return ordered.popleft()
