"""When each node considered itself the leader, by its own `may_act()`.

All nodes are on one machine and read the same clock, so their records can be compared.
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

    A term that has ended does not come back, so the node would have acted at any moment between two
    records of the same term.
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
    """Every pair of terms in which two nodes would have acted at the same time.

    A single record proves nothing: the node may have slept between its check and its timestamp.
    """
    certain = [term for term in terms if term.since < term.until]
    for one, other in combinations(sorted(certain, key=lambda term: term.since), 2):
        if one.since < other.until and other.since < one.until:
            yield one, other
