"""Beliefs: when which node took itself for the leader, by its own `may_act()`.

All nodes are on one machine and read one clock, so that their words can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from chaos.history import Term
from chaos.journal import whole_lines
from chaos.node import BELIEFS


def terms_in(folder: Path) -> list[Term]:
    """All terms that nodes believed in, the oldest first, in elapsed time.

    A term that is over does not come back, so between two looks that found it the node would have
    acted.
    """
    terms: dict[tuple[str, int], Term] = {}
    for path in sorted(folder.glob(f"*{BELIEFS}")):
        label = path.name.split(".")[0]
        for line in whole_lines(path):
            before, after, epoch = line.split()
            term = Term(label, int(epoch), float(after), float(after))
            known = terms.setdefault((term.node, term.epoch), term)
            terms[term.node, term.epoch] = replace(known, until=max(known.until, float(before)))
    return sorted(terms.values(), key=lambda term: term.since)


def clashes(terms: Iterable[Term]) -> Iterator[tuple[Term, Term]]:
    """Every two terms in which two nodes would have acted at one time.

    A single look says of no moment that its node would have acted then: it may have slept before
    it could write down when that was.
    """
    certain = [term for term in terms if term.since < term.until]
    for one, other in combinations(sorted(certain, key=lambda term: term.since), 2):
        if one.since < other.until and other.since < one.until:
            yield one, other
