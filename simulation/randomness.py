"""Random numbers of a simulated world, all derived from its seed; and a stopwatch for its runs.

Each part of a world has its own generator, so that one more draw in the network does not change the
draws of the nodes.
"""

from __future__ import annotations

import time  # noqa: TID251 - measures real run times, outside of any simulated world
from random import Random  # noqa: TID251 - seeded, so that runs can be repeated

__all__ = ["Random", "random_for", "stopwatch"]


def random_for(seed: int, part: str) -> Random:
    """The generator of one part of a world. The same seed gives the same numbers."""
    return Random(f"{seed}/{part}")  # noqa: S311 - as above


def stopwatch() -> float:
    """Real seconds, to measure the speed of the simulator."""
    return time.perf_counter()
