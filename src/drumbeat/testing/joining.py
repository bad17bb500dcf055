"""Submissions over a connection of the caller, in a test whose store is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.model.jobs.job import Duplicate, Inserted, JobSpec
from drumbeat.ports.caller_transaction import Insertion


@dataclass(frozen=True, slots=True)
class MemoryInsertion:
    """The jobs of one insertion; there is no statement."""

    specs: Sequence[JobSpec]
    text = ""
    value = ""

    def verdicts(self, rows: Sequence[Sequence[Any]]) -> Sequence[Inserted | Duplicate]:
        """No database returns rows."""
        raise NotImplementedError


class MemoryJoining:
    """Keeps the jobs as they are."""

    def insertion(self, specs: Sequence[JobSpec]) -> Insertion:
        """The jobs."""
        return MemoryInsertion(specs)


@dataclass(frozen=True, slots=True)
class MemoryTransactions:
    """Creates the jobs at once, whatever becomes of the caller's transaction."""

    submitter: Submitter
    bridge: SyncBridge

    async def run(self, connection: object, insertion: Insertion) -> Sequence[Inserted | Duplicate]:
        """Create the jobs; the connection is not used."""
        del connection
        assert isinstance(insertion, MemoryInsertion)
        return [await self.submitter.judged(spec) for spec in insertion.specs]

    def run_sync(self, connection: object, insertion: Insertion) -> Sequence[Inserted | Duplicate]:
        """The same, from code with no event loop."""
        return self.bridge.call(lambda: self.run(connection, insertion))
