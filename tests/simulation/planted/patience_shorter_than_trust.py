"""Others wait for less time than a leader trusts its last proof."""

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.leading import witness_keeper
from drumbeat.rules.leadership.witness_trust import WitnessTimings

CAUGHT_BY = {"S8"}
FOUND_AT = 64


class Hasty(WitnessTimings):
    """The same, without the check that would refuse them."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "patience", 0.05)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(witness_keeper, "WitnessTimings", Hasty):
        yield
