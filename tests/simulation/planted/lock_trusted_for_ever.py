"""A holder that slept trusts its lock without checking the clock."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.leading.lock import Lock

CAUGHT_BY = {"S19"}
FOUND_AT = 102


def held(self: Lock) -> bool:
    return self._state is not None and not self._lost


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Lock, "held", property(held)):
        yield
