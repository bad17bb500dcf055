"""A job is settled by its id alone: a reaped worker completes another's attempt (Oban)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.store.jobs.job_record import JobRecord
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.model.jobs.job import Hold, Status

CAUGHT_BY = {"S12"}
FOUND_AT = 3


def holder(self: JobTable, hold: Hold) -> JobRecord | None:
    record = self.records.get(hold.job_id)
    return record if record is not None and record.status is Status.RUNNING else None


@contextmanager
def planted() -> Generator[None]:
    with patch.object(JobTable, "holder", holder):
        yield
