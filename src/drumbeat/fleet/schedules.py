"""The protocol for schedules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.fleet.written import WriteResult
from drumbeat.model.fleet.token import Scope
from drumbeat.model.page import Page, PageRequest
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard
from drumbeat.wire.changes import BackfillView, CronPreviewView, SkipView, TaggedView, TriggerView
from drumbeat.wire.explanation import ExplanationView
from drumbeat.wire.fields import Arguments
from drumbeat.wire.job import JobView
from drumbeat.wire.new_schedule import (
    NewScheduleView,
    ScheduleChangesView,
    ScheduleDefinitionView,
)
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.queries import ExplainQuery, PreviewQuery, ScheduleQuery
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import BackfilledView, TickView


class FleetSchedules(Protocol):
    """Define, look at, change and explain schedules. Secret arguments are redacted.

    A change with a guard raises `VersionMismatch` unless the guard holds at the moment of the
    write. A change of a schedule that does not exist raises `UnknownSchedule`. `Contended` means
    that other writers won every try.
    """

    @endpoint("POST /schedules", "Create a schedule", status=201, refuses=(409,))
    async def create(self, new: NewScheduleView, reason: str = "") -> ScheduleView:
        """Create a schedule; `Conflict` if its name is taken."""
        ...

    @endpoint("PUT /schedules/{name}", "Create a schedule, or replace its definition")
    async def replace(
        self,
        name: str,
        definition: ScheduleDefinitionView,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> WriteResult[ScheduleView]:
        """Create a schedule, or replace its whole definition from now on."""
        ...

    @endpoint("PATCH /schedules/{name}", "Change parts of a schedule's definition")
    async def patch(
        self,
        name: str,
        changes: ScheduleChangesView,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        """Change the given parts of a definition from now on; all other parts stay."""
        ...

    @endpoint("DELETE /schedules/{name}", "Delete a schedule; its ledger stays")
    async def remove(self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED) -> None:
        """Remove a schedule. Its ledger stays, and its jobs still run."""
        ...

    @endpoint("GET /schedules/{name}", "Show a schedule")
    async def get(self, name: str) -> ScheduleView:
        """The schedule; `UnknownSchedule` if there is none."""
        ...

    @endpoint("GET /schedules", "List schedules by name", query=ScheduleQuery)
    async def list(
        self, page: PageRequest | None = None, prefix: str = "", tag: str | None = None
    ) -> Page[ScheduleView]:
        """A page of the schedules whose names begin with the prefix, by name.

        With a tag the page may be shorter than requested; only `next` says whether there is more.
        """
        ...

    @endpoint("POST /schedules/{name}/pause", "Pause a schedule; its ticks are recorded as skipped")
    async def pause(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        """Stop firing until resumed; ticks meanwhile are recorded as skipped."""
        ...

    @endpoint("POST /schedules/{name}/resume", "Let a schedule fire again, from now on")
    async def resume(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        """Fire again, from now on."""
        ...

    @endpoint("POST /schedules/pause", "Pause the schedules with a tag", body=TaggedView)
    async def pause_tagged(self, tag: str, reason: str = "") -> Sequence[ScheduleView]:
        """Pause the schedules with a tag that are not paused, one after the other; return them.

        Each change is recorded as if it were requested alone. It changes at most 1,000: repeat it
        until none is left.
        """
        ...

    @endpoint("POST /schedules/resume", "Resume the schedules with a tag", body=TaggedView)
    async def resume_tagged(self, tag: str, reason: str = "") -> Sequence[ScheduleView]:
        """Resume the paused schedules with a tag, as `pause_tagged` does."""
        ...

    @endpoint("POST /schedules/remove", "Delete the schedules with a tag", body=TaggedView)
    async def remove_tagged(self, tag: str, reason: str = "") -> Sequence[ScheduleView]:
        """Remove the schedules with a tag, as `pause_tagged` does; return what they were."""
        ...

    @endpoint(
        "POST /schedules/{name}/hand-back",
        "Let code define a schedule again that a person has edited",
    )
    async def hand_back(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        """Let the next declaration in code define a schedule again that a person has edited."""
        ...

    @endpoint(
        "POST /schedules/{name}/trigger",
        "Submit the task of a schedule now, in addition to its ticks",
        status=201,
        body=TriggerView,
        refuses=(412,),
    )
    async def trigger(
        self,
        name: str,
        args: Arguments | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> JobView:
        """Submit the schedule's task now, in addition to its ticks.

        `args` (by name, or in order) replace the schedule's own arguments.
        """
        ...

    @endpoint("POST /schedules/{name}/skip", "Skip one future tick", body=SkipView)
    async def skip(
        self,
        name: str,
        tick_at: datetime | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        """Skip one future tick; None: the next one that would fire, or `NoTick` if none is left."""
        ...

    @endpoint("POST /schedules/{name}/unskip", "Undo a skip, so the tick fires", body=SkipView)
    async def unskip(
        self,
        name: str,
        tick_at: datetime | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        """Undo the skip of a tick; None: the first skipped tick, or `NoTick` if there is none."""
        ...

    @endpoint(
        "POST /schedules/{name}/backfill",
        "Fire past ticks that did not fire, or list them",
        body=BackfillView,
        refuses=(412,),
    )
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

        Idempotent: a tick that has fired is not fired again. A dry run only lists the ticks, and
        is not audited.
        """
        ...

    @endpoint(
        "GET /schedules/{name}/preview",
        "Show the next ticks of a schedule, and how clock changes affect them",
        query=PreviewQuery,
    )
    async def preview(self, name: str, count: int = 10) -> PreviewView:
        """The next ticks that will fire as things stand, with the effects of clock changes."""
        ...

    @endpoint(
        "POST /cron/preview",
        "Show the next ticks of a trigger, without a schedule",
        scope=Scope.VIEWER,
        body=CronPreviewView,
    )
    async def preview_rule(
        self, when: str | dict[str, Any], tz: str | None = None, count: int = 10
    ) -> PreviewView:
        """The next ticks of a cron expression or a trigger that no schedule has."""
        ...

    @endpoint(
        "GET /schedules/{name}/ticks",
        "Show the ledger of a schedule, the latest tick first; it outlives the schedule",
    )
    async def ticks(self, name: str, page: PageRequest | None = None) -> Page[TickView]:
        """A page of the ledger, latest tick first. The ledger outlives its schedule."""
        ...

    @endpoint(
        "GET /schedules/{name}/explain",
        "Explain why a schedule did or did not run",
        query=ExplainQuery,
    )
    async def explain(self, name: str, ticks: int = 10, tz: str = "UTC") -> ExplanationView:
        """Why a schedule did or did not run, for its last `ticks` rows of the ledger.

        Times in the sentences are in the zone `tz`.
        """
        ...
