"""Jobs of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.bounded_page import bounded_page
from drumbeat.fleet.local.job_request import spec_of
from drumbeat.fleet.local.large_values import job_bytes
from drumbeat.fleet.local.services import Services
from drumbeat.fleet.written import WriteResult
from drumbeat.model.errors import InvalidInput, WrongStatus
from drumbeat.model.jobs.job import Duplicate, JobFilter, JobSpec, TooLate
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job import AttemptView, JobView, attempt_view, job_view
from drumbeat.wire.new_job import NewJobView


class LocalJobs:
    """Implements `FleetJobs`."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._services = services
        self._jobs = services.jobs
        self._secrets = services.registry.secrets
        self._trail = trail

    async def create(self, new: NewJobView) -> WriteResult[JobView]:
        services = self._services
        spec = spec_of(new, services)
        if new.queue:
            await services.queue_names.admit([new.queue])
        verdict = await services.submitter.judged(spec)
        return WriteResult(job_view(verdict.job, self._secrets), not isinstance(verdict, Duplicate))

    async def create_many(self, new: Sequence[NewJobView]) -> Sequence[JobView]:
        specs = [self._one_of_many(index, each) for index, each in enumerate(new)]
        await self._services.queue_names.admit(each.queue for each in new if each.queue)
        created = await self._services.submitter.submit_many(specs)
        return [job_view(job, self._secrets) for job in created]

    async def get(self, job_id: int) -> JobView:
        return job_view(await self._jobs.get(job_id), self._secrets)

    async def list(
        self, wanted: JobFilter | None = None, page: PageRequest | None = None
    ) -> Page[JobView]:
        found = await bounded_page(
            lambda part: self._jobs.list(wanted, part), page or PageRequest(), job_bytes
        )
        return Page(tuple(job_view(job, self._secrets) for job in found.items), found.next)

    async def attempts(self, job_id: int) -> Sequence[AttemptView]:
        job = await self._jobs.get(job_id)
        return [attempt_view(record) for record in await self._jobs.attempts(job.id)]

    async def wait(self, job_id: int, timeout: float | None = None) -> JobView:
        return job_view(await self._jobs.wait(job_id, timeout), self._secrets)

    async def cancel(self, job_id: int, reason: str = "") -> JobView:
        async with self._trail.change("job.cancel", str(job_id), reason) as because:
            verdict = await self._jobs.cancel(job_id, because)
            if isinstance(verdict, TooLate):
                raise _too_late(verdict, "only unfinished jobs are cancelled")
            return await self.get(job_id)

    async def retry(self, job_id: int, reason: str = "") -> JobView:
        async with self._trail.change("job.retry", str(job_id), reason):
            verdict = await self._jobs.retry(job_id)
            if isinstance(verdict, TooLate):
                raise _too_late(verdict, "only failed and cancelled jobs are retried")
            return await self.get(job_id)

    def _one_of_many(self, index: int, new: NewJobView) -> JobSpec:
        try:
            return spec_of(new, self._services)
        except InvalidInput as error:
            which = f"jobs[{index}]"
            error.parameter = f"{which}.{error.parameter}" if error.parameter else which
            error.args = (f"{which}: {error}",)
            raise


def _too_late(verdict: TooLate, rule: str) -> WrongStatus:
    sentence = f"job {verdict.job_id} is {verdict.status}; {rule}"
    return WrongStatus(sentence, verdict.status, rule)
