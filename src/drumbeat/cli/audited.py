"""Schedules, jobs and operations of a store. What a person changes is in the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import to_builtins

from drumbeat.app import Drumbeat
from drumbeat.cli.auditing import DONE, actor, audited, done
from drumbeat.model.audit import AuditNote
from drumbeat.model.job import Cancelled, CancelRequested, Job, JobFilter, Reopened, TooLate
from drumbeat.model.operation import Operation
from drumbeat.model.schedule import StoredSchedule
from drumbeat.wire.job_filter import filter_view


class LocalSchedules:
    """The schedules of a store."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app
        self._schedules = app.schedules
        self.get = self._schedules.get
        self.list = self._schedules.list
        self.ticks = self._schedules.ticks
        self.preview = self._schedules.preview

    async def pause(self, name: str, reason: str = "") -> StoredSchedule:
        """Stop firing."""
        note = AuditNote(actor(), "schedule.pause", name, reason)
        return await audited(self._app, note, done(lambda: self._schedules.pause(name, reason)))

    async def resume(self, name: str) -> StoredSchedule:
        """Fire again."""
        note = AuditNote(actor(), "schedule.resume", name)
        return await audited(self._app, note, done(lambda: self._schedules.resume(name)))

    async def skip(self, name: str, tick_at: datetime) -> StoredSchedule:
        """Skip one tick."""
        note = AuditNote(actor(), "schedule.skip", name, details=_tick(tick_at))
        return await audited(self._app, note, done(lambda: self._schedules.skip(name, tick_at)))

    async def unskip(self, name: str, tick_at: datetime) -> StoredSchedule:
        """Take that back."""
        note = AuditNote(actor(), "schedule.unskip", name, details=_tick(tick_at))
        return await audited(self._app, note, done(lambda: self._schedules.unskip(name, tick_at)))

    async def remove(self, name: str) -> None:
        """Remove it."""
        note = AuditNote(actor(), "schedule.delete", name)
        return await audited(self._app, note, done(lambda: self._schedules.remove(name)))

    async def trigger(
        self,
        name: str,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Job:
        """Submit its task now."""
        note = AuditNote(actor(), "schedule.trigger", name)
        asked = done(lambda: self._schedules.trigger(name, args, kwargs))
        return await audited(self._app, note, asked)


class LocalJobs:
    """The jobs of a store."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app
        self._jobs = app.jobs
        self.get = self._jobs.get
        self.list = self._jobs.list
        self.attempts = self._jobs.attempts
        self.counts = self._jobs.counts
        self.wait = self._jobs.wait

    async def cancel(self, job_id: int, reason: str = "") -> Cancelled | CancelRequested | TooLate:
        """End a waiting job, or ask a running one to end."""

        async def change() -> tuple[Cancelled | CancelRequested | TooLate, str]:
            verdict = await self._jobs.cancel(job_id, reason)
            return verdict, _told(verdict)

        note = AuditNote(actor(), "job.cancel", str(job_id), reason)
        return await audited(self._app, note, change)

    async def retry(self, job_id: int) -> Reopened | TooLate:
        """Queue a failed or cancelled job again."""

        async def change() -> tuple[Reopened | TooLate, str]:
            verdict = await self._jobs.retry(job_id)
            return verdict, _told(verdict)

        return await audited(self._app, AuditNote(actor(), "job.retry", str(job_id)), change)


class LocalOperations:
    """Changes of many jobs of a store. What is only counted is not in the log."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app
        self._operations = app.operations
        self.get = self._operations.get

    async def retry(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Queue all that match again."""

        async def begin() -> Operation:
            return await self._operations.retry(
                wanted, reason, everything=everything, dry_run=dry_run
            )

        note = _many("retry", wanted, reason, everything=everything)
        return await begin() if dry_run else await audited(self._app, note, done(begin))

    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Cancel all that match."""

        async def begin() -> Operation:
            return await self._operations.cancel_jobs(
                wanted, reason, everything=everything, dry_run=dry_run
            )

        note = _many("cancel", wanted, reason, everything=everything)
        return await begin() if dry_run else await audited(self._app, note, done(begin))


def _many(verb: str, wanted: JobFilter, reason: str, *, everything: bool) -> AuditNote:
    details: dict[str, object] = {"filter": to_builtins(filter_view(wanted))}
    if everything:
        details["all"] = True
    return AuditNote(actor(), f"jobs.{verb}", f"/jobs/{verb}", reason, details)


def _tick(tick_at: datetime) -> dict[str, object]:
    return {"tick_at": tick_at.isoformat()}


def _told(verdict: Cancelled | CancelRequested | Reopened | TooLate) -> str:
    return f"refused: it is {verdict.status}" if isinstance(verdict, TooLate) else DONE
