"""Joining: jobs that are created within a transaction of the caller's own.

The caller has a connection to the database that the store lives in, and a transaction open on it.
The jobs are created by one statement of that transaction: what is rolled back was never queued.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from drumbeat.model.job import Duplicate, Inserted, JobSpec


class Insertion(Protocol):
    """One statement that creates jobs, for any driver that speaks to the store's database."""

    @property
    def text(self) -> str:
        """The statement, with `%s` in the place of its one parameter, which is text."""
        ...

    @property
    def value(self) -> str:
        """The parameter: the jobs."""
        ...

    def verdicts(self, rows: Sequence[Sequence[Any]]) -> Sequence[Inserted | Duplicate]:
        """What the rows that came back say, in the order of the jobs."""
        ...


class Joining(Protocol):
    """A store whose jobs can be created over somebody else's connection."""

    def insertion(self, specs: Sequence[JobSpec]) -> Insertion:
        """The statement that creates these jobs."""
        ...


class Transactions(Protocol):
    """Whoever knows how to run a statement over the connections that callers have."""

    async def run(self, connection: object, insertion: Insertion) -> Sequence[Inserted | Duplicate]:
        """Create the jobs over an asynchronous connection."""
        ...

    def run_sync(self, connection: object, insertion: Insertion) -> Sequence[Inserted | Duplicate]:
        """Create the jobs over a synchronous one."""
        ...
