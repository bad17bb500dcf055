"""Submissions: how task handles reach the store, from any kind of code."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.engine.handle import Submission
from drumbeat.engine.portal import Portal
from drumbeat.engine.submitter import Submitter
from drumbeat.model.errors import InvalidOption
from drumbeat.model.job import Job, JobSpec
from drumbeat.ports.joining import Joining, Transactions


@dataclass(frozen=True, slots=True)
class Submissions:
    """Submits on the running loop, or through the portal where there is none."""

    submitter: Submitter
    portal: Portal
    joining: Joining | None
    """How jobs are created over a caller's connection; None: the store cannot be reached so."""
    transactions: Transactions

    async def submit(self, spec: JobSpec) -> Job:
        """Create one job."""
        return await self.submitter.submit(spec)

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        """Create many jobs."""
        return await self.submitter.submit_many(specs)

    def submit_sync(self, spec: JobSpec) -> Job:
        """Create one job, from code with no event loop."""
        return self.portal.call(lambda: self.submitter.submit(spec))

    def within(self, connection: object) -> Submission:
        """The same, over a connection of the caller's own and as part of its transaction."""
        if self.joining is None:
            raise InvalidOption(
                "connection= needs a store on PostgreSQL: "
                "only there can a job be part of the caller's own transaction"
            )
        return JoinedSubmissions(connection, self.joining, self.transactions)


@dataclass(frozen=True, slots=True)
class JoinedSubmissions:
    """Submits as part of a transaction of the caller's own.

    No event tells of such a job: whether there is one is only decided by the caller's commit.
    """

    connection: object
    joining: Joining
    transactions: Transactions

    async def submit(self, spec: JobSpec) -> Job:
        """Create one job."""
        (job,) = await self.submit_many([spec])
        return job

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        """Create many jobs, in one statement."""
        insertion = self.joining.insertion(specs)
        verdicts = await self.transactions.run(self.connection, insertion)
        return [verdict.job for verdict in verdicts]

    def submit_sync(self, spec: JobSpec) -> Job:
        """Create one job over a synchronous connection."""
        insertion = self.joining.insertion([spec])
        (verdict,) = self.transactions.run_sync(self.connection, insertion)
        return verdict.job

    def within(self, connection: object) -> Submission:
        """The same over another connection."""
        return JoinedSubmissions(connection, self.joining, self.transactions)
