"""Counters and histograms that cost a few machine words per update.

The client library's own counters take a lock and look labels up at each call, which is too slow
for thirty thousand updates a second. These are plain numbers that become samples at a scrape. Two
threads that add at the same instant may lose one count; only graphs depend on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from math import inf
from typing import TypeAlias

OTHER = "other"
"""The label shared by all names that get no label of their own."""
MOST_NAMES = 200

Labels: TypeAlias = tuple[str, ...]


class LabelNames:
    """Bounds how many names become labels. Reserved names always do."""

    __slots__ = ("_admitted", "_known", "_most", "_reserved")

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._known: dict[str, str] = {}
        self._most = most
        self._admitted = 0
        self._reserved: frozenset[str] = frozenset()

    def reserve(self, names: Iterable[str]) -> None:
        self._reserved = frozenset(names)

    def of(self, name: str) -> str:
        """The name itself, or "other" once there are too many."""
        return self._known.get(name) or self._admit(name)

    def _admit(self, name: str) -> str:
        if name not in self._reserved:
            if self._admitted >= self._most:
                return OTHER
            self._admitted += 1
        self._known[name] = name
        return name


class LabelledCounter:
    """A number per set of labels, which only rises."""

    __slots__ = ("_counts",)

    def __init__(self, known: Iterable[Labels] = ()) -> None:
        self._counts: dict[Labels, int] = dict.fromkeys(known, 0)

    def add(self, labels: Labels, count: int = 1) -> None:
        self._counts[labels] = self._counts.get(labels, 0) + count

    def items(self) -> Iterator[tuple[Labels, int]]:
        return iter(tuple(self._counts.items()))


class Histogram:
    """Counts measurements by range. Each range includes its upper bound."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float, count: int = 1) -> None:
        self._counts[bisect_left(self._bounds, value)] += count
        self.total += value * count

    @property
    def ranges(self) -> list[tuple[float, int]]:
        """Each bound, the last infinite, with the number of measurements up to it."""
        return list(zip((*self._bounds, inf), accumulate(self._counts), strict=True))


class Histograms:
    """A histogram per name. Names without a label of their own share one."""

    __slots__ = ("_bounds", "_by_name", "_names")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._names = LabelNames()
        self._by_name: dict[str, Histogram] = {}

    def of(self, name: str) -> Histogram:
        return self._by_name.get(name) or self._make(name)

    def reserve(self, names: Iterable[str]) -> None:
        """Give these names a histogram of their own, however many others there are."""
        self._names.reserve(names)

    def items(self) -> Iterator[tuple[str, Histogram]]:
        return iter(tuple(self._by_name.items()))

    def _make(self, name: str) -> Histogram:
        return self._by_name.setdefault(self._names.of(name), Histogram(self._bounds))
