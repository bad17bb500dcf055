"""Chance: random numbers of a simulated world, all from its seed; and a stopwatch for its runs.

Each part of a world draws from a source of its own, so that one draw more in the network does not
change what the nodes draw.
"""

from __future__ import annotations

import time  # noqa: TID251 - how long a run took, which no simulated world ever sees
from random import Random  # noqa: TID251 - seeded: chance that can be repeated is the point

__all__ = ["Random", "chance", "stopwatch"]


def chance(seed: int, what: str) -> Random:
    """A source of chance for one part of one world. The same seed draws the same numbers."""
    return Random(f"{seed}/{what}")  # noqa: S311 - as above


def stopwatch() -> float:
    """Seconds of the machine, to say how fast the simulator is."""
    return time.perf_counter()
