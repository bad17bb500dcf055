"""Violations: what a checker says when a promise was broken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise: which, when, and who believed what."""

    invariant: str
    """Such as S1: `docs/simulation.md` has the list."""
    at: float
    """True seconds since the start."""
    text: str

    def __str__(self) -> str:
        return f"{self.invariant} broken at {self.at:.3f} s: {self.text}"
