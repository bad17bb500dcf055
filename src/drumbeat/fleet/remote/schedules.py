"""The schedules of a remote fleet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from drumbeat.fleet.endpoint import GUARD, Endpoint
from drumbeat.fleet.remote.call_options import ScheduleSettings, arguments_of, schedule_options
from drumbeat.fleet.remote.resource import RemoteResource, every_page
from drumbeat.fleet.schedules import FleetSchedules
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard
from drumbeat.wire.new_schedule import ScheduleChangesView, ScheduleDefinitionView
from drumbeat.wire.requests import request as request_body
from drumbeat.wire.schedule import ScheduleView

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport


class RemoteSchedules(RemoteResource, FleetSchedules):
    """Implements `FleetSchedules`, with `put` and other calls that are convenient in Python."""

    def __init__(self, transport: Transport, guard: VersionGuard = UNGUARDED) -> None:
        super().__init__(transport)
        self._default_guard = guard

    def at_version(self, version: int) -> RemoteSchedules:
        """The same schedules; changes raise `VersionMismatch` unless at this version."""
        return type(self)(self._transport, VersionGuard(frozenset({version})))

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

    def all(self, prefix: str = "", tag: str | None = None) -> AsyncGenerator[ScheduleView]:
        """All schedules by name, fetched page by page."""
        return every_page(lambda page: self.list(page, prefix, tag))

    async def _call(self, endpoint: Endpoint, given: Mapping[str, Any]) -> Any:
        if given.get(GUARD) is UNGUARDED:
            given = {**given, GUARD: self._default_guard}
        return await super()._call(endpoint, given)
