"""A leader trusts its lease although its own witness may be free, so that others evict it."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.leading.witness_keeper import WitnessKeeper

CAUGHT_BY = {"S8"}
FOUND_AT = 86


def may_act(self: WitnessKeeper, turn: int) -> bool:
    del self, turn
    return True


def is_over(self: WitnessKeeper, turn: int) -> None:
    del self, turn


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(WitnessKeeper, "may_act", may_act),
        patch.object(WitnessKeeper, "is_over", is_over),
    ):
        yield
