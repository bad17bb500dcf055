"""The store accepts writes at any epoch (Kleppmann, "How to do distributed locking")."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.store.fence import MemoryFence
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import NodeId

CAUGHT_BY = {"S5", "S6"}
FOUND_AT = 5


def leader_of(self: MemoryFence, epoch: Epoch) -> NodeId:
    return self._rows[epoch.election].holder


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemoryFence, "leader_of", leader_of):
        yield
