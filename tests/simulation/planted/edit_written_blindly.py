"""An edit overwrites the schedule without comparing it with what was read."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.store.schedules.ledger import Signature
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.model.schedules.plan import Edit, Raced, Written

CAUGHT_BY = {"S2", "S4"}
FOUND_AT = 14


def put(self: MemorySchedules, edit: Edit, signature: Signature) -> Written | Raced:
    if edit.after is not None:
        self._schedules.write(edit.after)
    elif self._schedules.get(edit.name) is not None:
        self._schedules.remove(edit.name)
    for skip in edit.skips:
        self.ledger.skipped(edit.name, skip, signature)
    return Written(edit.name)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemorySchedules, "_put", put):
        yield
