"""Submissions: how task handles create jobs, from any kind of code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.submitting.submit_middleware import after_middleware
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.tasks.handle import Submission
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.model.errors import InvalidOption
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.ports.caller_transaction import Insertion, Joining, Transactions
from drumbeat.ports.tracing import Tracing


@dataclass(slots=True)
class Submissions:
    """Submits on the running loop, or through the bridge if there is none."""

    submitter: Submitter
    bridge: SyncBridge
    joined: JoinedSubmissions | None
    """Creates jobs over a caller's connection; None: the store does not support it."""

    async def submit(self, spec: JobSpec) -> Job:
        return await self.submitter.submit(spec)

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        return await self.submitter.submit_many(specs)

    def submit_sync(self, spec: JobSpec) -> Job:
        return self.bridge.call(lambda: self.submitter.submit(spec))

    def submit_many_sync(self, specs: list[JobSpec]) -> list[Job]:
        return self.bridge.call(lambda: self.submitter.submit_many(specs))

    def within(self, connection: object) -> Submission:
        if self.joined is None:
            raise InvalidOption(
                "connection= needs a store on PostgreSQL: "
                "only there can a job be part of the caller's own transaction"
            )
        return self.joined.within(connection)


@dataclass(frozen=True, slots=True)
class JoinedSubmissions:
    """Submits as part of a transaction of the caller.

    No event reports such a job: whether it exists is decided by the caller's commit.
    """

    joining: Joining
    transactions: Transactions
    tracing: Tracing | None
    hooks: Hooks
    connection: object = None

    async def submit(self, spec: JobSpec) -> Job:
        (job,) = await self.submit_many([spec])
        return job

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        """Create many jobs, in one statement."""
        verdicts = await self.transactions.run(self.connection, self._insertion(specs))
        return [verdict.job for verdict in verdicts]

    def submit_sync(self, spec: JobSpec) -> Job:
        (job,) = self.submit_many_sync([spec])
        return job

    def submit_many_sync(self, specs: list[JobSpec]) -> list[Job]:
        """Create many jobs, in one statement."""
        verdicts = self.transactions.run_sync(self.connection, self._insertion(specs))
        return [verdict.job for verdict in verdicts]

    def within(self, connection: object) -> Submission:
        return replace(self, connection=connection)

    def _insertion(self, submitted: Sequence[JobSpec]) -> Insertion:
        specs = after_middleware(submitted, self.hooks)
        if self.tracing is None:
            return self.joining.insertion(specs)
        with self.tracing.submitting(specs) as traced:  # ends before the statement is run
            return self.joining.insertion(traced)
