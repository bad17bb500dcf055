"""Submissions: how task handles create jobs, from any kind of code."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.tasks.handle import Submission
from drumbeat.model.errors import InvalidOption
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.ports.caller_transaction import Joining, Transactions


@dataclass(frozen=True, slots=True)
class Submissions:
    """Submits on the running loop, or through the bridge if there is none."""

    submitter: Submitter
    bridge: SyncBridge
    joining: Joining | None
    """Creates jobs over a caller's connection; None: the store does not support it."""
    transactions: Transactions

    async def submit(self, spec: JobSpec) -> Job:
        return await self.submitter.submit(spec)

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        return await self.submitter.submit_many(specs)

    def submit_sync(self, spec: JobSpec) -> Job:
        """Create one job, from code with no event loop."""
        return self.bridge.call(lambda: self.submitter.submit(spec))

    def within(self, connection: object) -> Submission:
        """The same, over a connection of the caller and as part of its transaction."""
        if self.joining is None:
            raise InvalidOption(
                "connection= needs a store on PostgreSQL: "
                "only there can a job be part of the caller's own transaction"
            )
        return JoinedSubmissions(connection, self.joining, self.transactions)


@dataclass(frozen=True, slots=True)
class JoinedSubmissions:
    """Submits as part of a transaction of the caller.

    No event reports such a job: whether it exists is decided by the caller's commit.
    """

    connection: object
    joining: Joining
    transactions: Transactions

    async def submit(self, spec: JobSpec) -> Job:
        (job,) = await self.submit_many([spec])
        return job

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        """Create many jobs, in one statement."""
        insertion = self.joining.insertion(specs)
        verdicts = await self.transactions.run(self.connection, insertion)
        return [verdict.job for verdict in verdicts]

    def submit_sync(self, spec: JobSpec) -> Job:
        insertion = self.joining.insertion([spec])
        (verdict,) = self.transactions.run_sync(self.connection, insertion)
        return verdict.job

    def within(self, connection: object) -> Submission:
        return JoinedSubmissions(connection, self.joining, self.transactions)
