"""The leader is evicted at the first look at its free witness, before it can notice if it lives."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.model.fleet.node import Vanished
from drumbeat.rules.leadership import witness_trust
from drumbeat.rules.leadership.witness_trust import Look, Suspicions, WitnessTimings

CAUGHT_BY = {"S8"}
FOUND_AT = 42
PATIENCE = WitnessTimings().patience
after_a_second_look = witness_trust.dead


def dead(suspicions: Suspicions, look: Look) -> Sequence[Vanished]:
    at_once = [each for each, found in suspicions.items() if found.patience == PATIENCE]
    return [*at_once, *after_a_second_look(suspicions, look)]


@contextmanager
def planted() -> Generator[None]:
    with patch.object(witness_trust, "dead", dead):
        yield
