"""Tallies: counting and measuring at the price of a few machine words.

The client library's own counters lock and look labels up at each call, which is too much for what
happens thirty thousand times a second. These are plain numbers; they become samples at a scrape.
A count may be lost when two threads add at the same instant. Nothing but a graph rests on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from math import inf
from typing import TypeAlias

OTHER = "other"
"""The label of all names beyond those that have one of their own."""
MOST_NAMES = 200

Labels: TypeAlias = tuple[str, ...]


class Names:
    """Names that may be labels. There may be any number of them; labels have to be few.

    Names that are reserved always get a label. Of the others, which data can invent, only so many
    do.
    """

    __slots__ = ("_invented", "_known", "_most", "_reserved")

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._known: dict[str, str] = {}
        self._most = most
        self._invented = 0
        self._reserved: frozenset[str] = frozenset()

    def reserve(self, names: Iterable[str]) -> None:
        """Give these names, and none but these, a label whatever else there is."""
        self._reserved = frozenset(names)

    def of(self, name: str) -> str:
        """The name itself, or "other" once there are too many."""
        return self._known.get(name) or self._admit(name)

    def _admit(self, name: str) -> str:
        if name not in self._reserved:
            if self._invented >= self._most:
                return OTHER
            self._invented += 1
        self._known[name] = name
        return name


class Tally:
    """A number for each set of labels, which only rises."""

    __slots__ = ("_counts",)

    def __init__(self, known: Iterable[Labels] = ()) -> None:
        self._counts: dict[Labels, int] = dict.fromkeys(known, 0)

    def add(self, labels: Labels, count: int = 1) -> None:
        """Count so many more."""
        self._counts[labels] = self._counts.get(labels, 0) + count

    def items(self) -> Iterator[tuple[Labels, int]]:
        """All of them, in the order in which they were first seen."""
        return iter(tuple(self._counts.items()))


class Spread:
    """How measurements spread over ranges, each up to and with its bound."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float, count: int = 1) -> None:
        """One more measurement, or so many that are alike."""
        self._counts[bisect_left(self._bounds, value)] += count
        self.total += value * count

    @property
    def ranges(self) -> list[tuple[float, int]]:
        """Each bound, the last infinite, with the number of measurements up to it."""
        return list(zip((*self._bounds, inf), accumulate(self._counts), strict=True))


class Spreads:
    """A spread for each name, as long as the names are few."""

    __slots__ = ("_bounds", "_names", "_spreads")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._names = Names()
        self._spreads: dict[str, Spread] = {}

    def of(self, name: str) -> Spread:
        """The spread of a name."""
        return self._spreads.get(name) or self._make(name)

    def reserve(self, names: Iterable[str]) -> None:
        """Give these names a spread of their own whatever else there is."""
        self._names.reserve(names)

    def items(self) -> Iterator[tuple[str, Spread]]:
        """All of them."""
        return iter(tuple(self._spreads.items()))

    def _make(self, name: str) -> Spread:
        label = self._names.of(name)
        return self._spreads.setdefault(label, Spread(self._bounds))
