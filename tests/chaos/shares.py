"""Checks that enough of a fixed number of tries were in time.

Whether a real fleet is in time also depends on the machine. So such a check is tried a fixed number
of times, and a share of the tries has to be good. Everything else has to hold in every try, and is
asserted there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """At least `good` of `tries`."""

    good: int
    tries: int

    def check(self, what: str, took: Sequence[float], within: float) -> str:
        """Assert that enough tries took less than `within` seconds; return the result as text."""
        assert len(took) == self.tries, f"{what}: {len(took)} tries, expected {self.tries}"
        good = sum(seconds < within for seconds in took)
        shown = ", ".join(f"{seconds:.2f}" for seconds in took)
        found = (
            f"{what}: {good} of {self.tries} tries took less than {within:g} s, at least "
            f"{self.good} must (seconds: {shown})"
        )
        assert good >= self.good, found
        return found
