"""A violation: the report of a broken promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise."""

    invariant: str
    """Its code, such as S1; `docs/simulation.md` lists all."""
    at: float
    """True seconds since the start."""
    text: str

    def __str__(self) -> str:
        return f"{self.invariant} broken at {self.at:.3f} s: {self.text}"
