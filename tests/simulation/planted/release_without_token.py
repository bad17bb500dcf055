"""A release ends any term of the name, so a late one ends another's (Redis locks by DEL)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.coordinator import MemoryLeases
from drumbeat.model.fleet.lease import Lease

CAUGHT_BY = {"S8", "S18"}
FOUND_AT = 101


async def release(self: MemoryLeases, lease: Lease) -> bool:
    if self._live(lease.name) is None:
        return False
    del self._terms[lease.name]
    self._turn(lease.name)
    self._listeners.wake()
    return True


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemoryLeases, "release", release):
        yield
