"""Beliefs: when which node took itself for the leader, by its own `may_act()`.

All nodes are on one machine and read one clock, so that their words can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from .node import BELIEFS


@dataclass(frozen=True, slots=True)
class Belief:
    """One term of one node: from the first look that found it leading to the last.

    A term that is over does not come back, so between two such looks the node would have acted.
    """

    node: str
    epoch: int
    since: float
    until: float

    def overlaps(self, other: Belief) -> bool:
        return self.since < other.until and other.since < self.until


def beliefs_in(folder: Path) -> list[Belief]:
    """All terms that nodes believed in, the oldest first."""
    terms: dict[tuple[str, int], Belief] = {}
    for path in sorted(folder.glob(f"*{BELIEFS}")):
        for line in path.read_text(encoding="utf-8").splitlines():
            before, after, epoch = line.split()
            belief = Belief(path.name.removesuffix(BELIEFS), int(epoch), float(after), float(after))
            known = terms.setdefault((belief.node, belief.epoch), belief)
            terms[belief.node, belief.epoch] = replace(known, until=max(known.until, float(before)))
    return sorted(terms.values(), key=lambda belief: belief.since)


def doubled(beliefs: Iterable[Belief]) -> list[str]:
    """Where two nodes would have acted at one time, in words; and where an epoch fell."""
    ordered: Sequence[Belief] = sorted(beliefs, key=lambda belief: belief.since)
    found: list[str] = []
    for number, one in enumerate(ordered):
        found += [
            f"{one.node} in epoch {one.epoch} and {other.node} in epoch {other.epoch}, both for "
            f"{min(one.until, other.until) - other.since:.3f} s"
            for other in ordered[number + 1 :]
            if one.overlaps(other)
        ]
    found += [
        f"epoch {other.epoch} came after epoch {one.epoch}"
        for one, other in pairwise(ordered)
        if other.epoch <= one.epoch
    ]
    return found
