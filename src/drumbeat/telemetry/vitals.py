"""Vitals: what a node can say of itself at any moment, without asking anybody."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vitals:
    """How this node stands. The defaults are those of a node that does not run."""

    epoch: int | None = None
    """The epoch of its present term; None: it does not lead."""
    lease_remaining: float = 0.0
    """Seconds for which it may trust in its term without a renewal."""
    slots: int = 0
    busy: int = 0
    queues: frozenset[str] = frozenset()
    """The queues that it is set up to serve."""
    tasks: frozenset[str] = frozenset()
    """The tasks that it knows."""
