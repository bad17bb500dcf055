"""A backfill fires every requested tick, even those that the ledger has as fired."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.store.schedules.ledger import Signature
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.model.schedules.plan import AlreadyFired, Backfilled, Fire

CAUGHT_BY = {"S1"}
FOUND_AT = 1


def backfill(
    self: MemorySchedules, name: str, fire: Fire, signature: Signature
) -> Backfilled | AlreadyFired:
    job_id = self._table.create(fire.job, signature.recorded_at).id
    self.ledger.fired(name, fire.tick_at, job_id, signature)
    return Backfilled(fire.tick_at, job_id)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemorySchedules, "_backfill", backfill):
        yield
