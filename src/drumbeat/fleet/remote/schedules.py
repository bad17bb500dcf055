"""The schedules of a remote fleet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from drumbeat.fleet.remote.call_options import ScheduleSettings, arguments_of, schedule_options
from drumbeat.fleet.remote.request import ServerResponse, body_of
from drumbeat.fleet.remote.resource import RemoteResource, every_page, reason_header, request_for
from drumbeat.fleet.written import WriteResult
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.time.instant import aware
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard
from drumbeat.wire.explanation import ExplanationView
from drumbeat.wire.fields import Arguments
from drumbeat.wire.job import JobView
from drumbeat.wire.new_schedule import (
    NewScheduleView,
    ScheduleChangesView,
    ScheduleDefinitionView,
)
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.requests import request as request_body
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import BackfilledView, TickView

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

T = TypeVar("T")

CREATED = 201


class RemoteSchedules(RemoteResource):
    """Implements `FleetSchedules`, with `put` and other calls that are convenient in Python."""

    def __init__(self, transport: Transport, guard: VersionGuard = UNGUARDED) -> None:
        super().__init__(transport)
        self._default_guard = guard

    def at_version(self, version: int) -> RemoteSchedules:
        """The same schedules; changes raise `VersionMismatch` unless at this version."""
        return RemoteSchedules(self._transport, VersionGuard(frozenset({version})))

    async def create(self, new: NewScheduleView, reason: str = "") -> ScheduleView:
        """Create a schedule; `Conflict` if its name is taken."""
        headers = reason_header(reason)
        return await self._post(ScheduleView, "schedules", body=new, headers=headers)

    async def replace(
        self,
        name: str,
        definition: ScheduleDefinitionView,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> WriteResult[ScheduleView]:
        """Create a schedule, or replace its whole definition from now on."""
        # Not marked as idempotent: a second arrival would be a second entry of the audit log.
        response = await self._write("PUT", name, definition, reason, guard)
        return WriteResult(response.read(ScheduleView), response.status == CREATED)

    async def patch(
        self,
        name: str,
        changes: ScheduleChangesView,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        """Change the given parts of a definition from now on; all other parts stay."""
        return (await self._write("PATCH", name, changes, reason, guard)).read(ScheduleView)

    async def put(
        self,
        name: str,
        when: Trigger | str,
        task: str,
        *,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        description: str = "",
        reason: str = "",
        **options: Unpack[ScheduleSettings],
    ) -> ScheduleView:
        """Create a schedule for a task, or replace its definition from now on.

        A string is a cron expression. A task that the server does not know is accepted.
        """
        fields = {
            "task": task,
            "when": when if isinstance(when, str) else when.to_json(),
            "description": description,
            **arguments_of(args, kwargs),
            **schedule_options(options),
        }
        definition = request_body(ScheduleDefinitionView, fields)
        return (await self.replace(name, definition, reason)).view

    async def edit(
        self,
        name: str,
        *,
        when: Trigger | str | None = None,
        task: str | None = None,
        kwargs: Mapping[str, Any] | None = None,
        description: str | None = None,
        reason: str = "",
        **options: Unpack[ScheduleSettings],
    ) -> ScheduleView:
        """Change what is given of a schedule's definition; everything else stays as it is."""
        fields = {
            "task": task,
            "when": when if isinstance(when, str | None) else when.to_json(),
            "args": None if kwargs is None else dict(kwargs),
            "description": description,
        }
        given = {field: value for field, value in fields.items() if value is not None}
        changes = request_body(ScheduleChangesView, {**given, **schedule_options(options)})
        return await self.patch(name, changes, reason)

    async def remove(self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED) -> None:
        """Remove a schedule. Its ledger stays, and its jobs still run."""
        headers = {**self._guarded(guard), **reason_header(reason)}
        await self._transport.send(request_for("DELETE", "schedules", name, headers=headers))

    async def get(self, name: str) -> ScheduleView:
        """The schedule; `UnknownSchedule` if there is none."""
        return await self._get(ScheduleView, "schedules", name)

    async def list(self, page: PageRequest | None = None, prefix: str = "") -> Page[ScheduleView]:
        """A page of the schedules whose names begin with the prefix, by name."""
        query = [("prefix", prefix)] if prefix else []
        return await self._page(ScheduleView, "schedules", page=page, query=query)

    def all(self, prefix: str = "") -> AsyncGenerator[ScheduleView]:
        """All schedules by name, fetched page by page."""
        return every_page(lambda page: self.list(page, prefix))

    async def pause(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        """Stop firing until resumed; ticks meanwhile are recorded as skipped."""
        return await self._change(ScheduleView, name, "pause", {"reason": reason}, guard)

    async def resume(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        """Fire again, from now on."""
        return await self._change(ScheduleView, name, "resume", {"reason": reason}, guard)

    async def hand_back(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        """Let the next declaration in code define a schedule again that a person has edited."""
        return await self._change(ScheduleView, name, "hand-back", {"reason": reason}, guard)

    async def trigger(
        self,
        name: str,
        args: Arguments | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> JobView:
        """Submit the schedule's task now; `args` (by name, or in order) replace its own."""
        body = {"reason": reason} if args is None else {"args": args, "reason": reason}
        return await self._change(JobView, name, "trigger", body, guard)

    async def skip(
        self,
        name: str,
        tick_at: datetime | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        """Skip one future tick; None: the next one that would fire, or `NoTick` if none is left."""
        body = {"tick_at": _instant("tick_at", tick_at), "reason": reason}
        return await self._change(ScheduleView, name, "skip", body, guard)

    async def unskip(
        self,
        name: str,
        tick_at: datetime | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        """Undo the skip of a tick; None: the first skipped tick, or `NoTick` if there is none."""
        body = {"tick_at": _instant("tick_at", tick_at), "reason": reason}
        return await self._change(ScheduleView, name, "unskip", body, guard)

    async def backfill(
        self,
        name: str,
        start: datetime,
        end: datetime | None = None,
        *,
        dry_run: bool = False,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> Sequence[BackfilledView]:
        """Fire past ticks that did not fire, from `start` to `end` (None: now), both included.

        A dry run only lists the ticks.
        """
        body = {
            "from": aware("start", start),
            "to": _instant("end", end),
            "dry_run": dry_run,
            "reason": reason,
        }
        return await self._change(list[BackfilledView], name, "backfill", body, guard)

    async def preview(self, name: str, count: int = 10) -> PreviewView:
        """The next ticks that will fire as things stand, with the effects of clock changes."""
        query = [("n", str(count))]
        return await self._get(PreviewView, "schedules", name, "preview", query=query)

    async def preview_rule(
        self, when: str | dict[str, Any], tz: str | None = None, count: int = 10
    ) -> PreviewView:
        """The next ticks of a cron expression or a trigger that no schedule has."""
        body = {"when": when, "tz": tz, "n": count}
        return await self._post(PreviewView, "cron", "preview", body=body)

    async def ticks(self, name: str, page: PageRequest | None = None) -> Page[TickView]:
        """A page of the ledger, latest tick first."""
        return await self._page(TickView, "schedules", name, "ticks", page=page)

    async def explain(self, name: str, ticks: int = 10, tz: str = "UTC") -> ExplanationView:
        """Why a schedule did or did not run; times in the sentences are in the zone `tz`."""
        query = [("ticks", str(ticks)), ("tz", tz)]
        return await self._get(ExplanationView, "schedules", name, "explain", query=query)

    async def _change(
        self, kind: type[T], name: str, verb: str, body: Mapping[str, Any], guard: VersionGuard
    ) -> T:
        headers = self._guarded(guard)
        return await self._post(kind, "schedules", name, verb, body=body, headers=headers)

    async def _write(
        self,
        method: str,
        name: str,
        body: ScheduleChangesView,
        reason: str,
        guard: VersionGuard,
    ) -> ServerResponse:
        headers = {**self._guarded(guard), **reason_header(reason)}
        request = request_for(method, "schedules", name, body=body_of(body), headers=headers)
        return await self._transport.send(request)

    def _guarded(self, guard: VersionGuard) -> dict[str, str]:
        """The guard as HTTP has it."""
        guard = self._default_guard if guard is UNGUARDED else guard
        if guard.versions is not None:
            return {"if-match": ", ".join(f'"{version}"' for version in sorted(guard.versions))}
        if guard.must_be_absent:
            return {"if-none-match": "*"}
        return {"if-match": "*"} if guard.must_exist else {}


def _instant(name: str, instant: datetime | None) -> datetime | None:
    return None if instant is None else aware(name, instant)
