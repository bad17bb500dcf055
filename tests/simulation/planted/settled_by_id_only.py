"""A job is settled by its id alone: a reaped worker completes another's attempt (Oban)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.model.job import Hold, Status
from drumbeat.stores.memory.record import JobRecord
from drumbeat.stores.memory.table import JobTable

CAUGHT_BY = {"S12"}
FOUND_AT = 32


def holder(self: JobTable, hold: Hold) -> JobRecord | None:
    record = self.records.get(hold.job_id)
    return record if record is not None and record.status is Status.RUNNING else None


@contextmanager
def planted() -> Generator[None]:
    with patch.object(JobTable, "holder", holder):
        yield
