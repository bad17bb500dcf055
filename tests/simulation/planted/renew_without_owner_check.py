"""A renewal extends any term of the name, without an owner check (chancy 0.25, river#199)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.coordinator import MemoryLeases
from drumbeat.model.fleet.lease import Lease

CAUGHT_BY = {"S8", "S18"}
FOUND_AT = 3


async def renew(self: MemoryLeases, lease: Lease) -> Lease | None:
    term = self._live(lease.name)
    if term is None:
        return None
    self._terms[lease.name] = self._term(term.lease)
    return lease


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemoryLeases, "renew", renew):
        yield
