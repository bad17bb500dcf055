"""The store judges expiry a second too late, so jobs start that have expired."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from unittest.mock import patch

from drumbeat.backends.memory.store.jobs.job_table import JobTable

CAUGHT_BY = {"S22"}
FOUND_AT = 8

next_expiry = JobTable.next_expiry


def a_second_later(table: JobTable) -> datetime | None:
    expires_at = next_expiry(table)
    return None if expires_at is None else expires_at + timedelta(seconds=1)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(JobTable, "next_expiry", a_second_later):
        yield
