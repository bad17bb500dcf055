"""Creating jobs within a transaction of the caller.

The caller has a connection to the store's database, and a transaction open on it. One statement of
that transaction creates the jobs: if it is rolled back, no job was created.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from drumbeat.model.jobs.job import Duplicate, Inserted, JobSpec


class Insertion(Protocol):
    """One statement that creates jobs, for any driver of the store's database."""

    @property
    def text(self) -> str:
        """The statement, with `%s` as the place of its one text parameter."""
        ...

    @property
    def value(self) -> str:
        """The parameter: the jobs as text."""
        ...

    def verdicts(self, rows: Sequence[Sequence[Any]]) -> Sequence[Inserted | Duplicate]:
        """The verdicts in the returned rows, in the order of the jobs."""
        ...


class Joining(Protocol):
    """The part of a store that creates jobs over a caller's connection."""

    def insertion(self, specs: Sequence[JobSpec]) -> Insertion:
        """The statement that creates these jobs."""
        ...


class Transactions(Protocol):
    """Runs the statement over the kinds of connections that callers have."""

    async def run(
        self, connection: object, insertion: Insertion
    ) -> Sequence[Inserted | Duplicate]: ...

    def run_sync(
        self, connection: object, insertion: Insertion
    ) -> Sequence[Inserted | Duplicate]: ...
