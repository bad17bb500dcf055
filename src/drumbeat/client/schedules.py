"""Schedules, asked of a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from drumbeat.client.asking import Noun, every_page
from drumbeat.client.options import ScheduleSettings, arguments_of, schedule_options
from drumbeat.client.request import Answer, Request, body_of, path_of
from drumbeat.model.explanation import ExplainedTick, Explanation
from drumbeat.model.ids import JobId
from drumbeat.model.instant import aware
from drumbeat.model.job import Job
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import AlreadyFired, Backfilled, Fire, TickRecord
from drumbeat.model.schedule import StoredSchedule
from drumbeat.model.trigger import Trigger
from drumbeat.wire.explanation import ExplanationView
from drumbeat.wire.job import JobView, job_of
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.schedule import ScheduleView, schedule_of
from drumbeat.wire.tick import BackfilledView, TickView, tick_of

if TYPE_CHECKING:
    from drumbeat.client.exchange import Exchange


class Schedules(Noun):
    """What can be asked of schedules."""

    def __init__(self, exchange: Exchange, version: int | None = None) -> None:
        super().__init__(exchange)
        self._guard = {} if version is None else {"if-match": f'"{version}"'}

    def at_version(self, version: int) -> Schedules:
        """The same, with changes that are made only to a schedule at this version.

        Otherwise they raise `VersionMismatch`: somebody else has changed the schedule meanwhile.
        """
        return Schedules(self._exchange, version)

    async def put(
        self,
        name: str,
        when: Trigger | str,
        task: str,
        *,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        description: str = "",
        **options: Unpack[ScheduleSettings],
    ) -> StoredSchedule:
        """Create a schedule for a task, or replace its definition from now on.

        A string is a cron expression. A task that the server does not know is taken as it is given.
        """
        body = {
            "task": task,
            "when": when if isinstance(when, str) else when.to_json(),
            "description": description,
            **arguments_of(args, kwargs),
            **schedule_options(options),
        }
        # A second arrival writes the same definition again: harmless, but not without a trace.
        return _schedule(await self._send("PUT", name, body))

    async def get(self, name: str) -> StoredSchedule:
        """The schedule; `UnknownSchedule` if there is none."""
        return _schedule(await self._get(path_of("schedules", name), about=name))

    async def list(self, page: PageRequest | None = None, prefix: str = "") -> Page[StoredSchedule]:
        """A page of schedules, by name."""
        query = [("prefix", prefix)] if prefix else []
        request = Request("GET", path_of("schedules"), query)
        return await self._page(request, page, ScheduleView, schedule_of)

    def all(self, prefix: str = "") -> AsyncGenerator[StoredSchedule]:
        """All schedules by name, fetched page by page."""
        return every_page(lambda page: self.list(page, prefix))

    async def pause(self, name: str, reason: str = "") -> StoredSchedule:
        """Stop firing, until resumed; the ticks meanwhile are recorded as skipped."""
        return await self._change(name, "pause", {"reason": reason})

    async def resume(self, name: str, reason: str = "") -> StoredSchedule:
        """Fire again, from now on."""
        return await self._change(name, "resume", {"reason": reason})

    async def skip(self, name: str, tick_at: datetime, reason: str = "") -> StoredSchedule:
        """Skip one tick that is still to come."""
        body = {"tick_at": aware("tick_at", tick_at), "reason": reason}
        return await self._change(name, "skip", body)

    async def unskip(self, name: str, tick_at: datetime, reason: str = "") -> StoredSchedule:
        """Take the skipping of a tick back."""
        body = {"tick_at": aware("tick_at", tick_at), "reason": reason}
        return await self._change(name, "unskip", body)

    async def hand_back(self, name: str, reason: str = "") -> StoredSchedule:
        """Let code define the schedule again, from its next declaration on."""
        return await self._change(name, "hand-back", {"reason": reason})

    async def remove(self, name: str) -> None:
        """Remove the schedule; its ledger stays, and its jobs run on."""
        request = Request("DELETE", path_of("schedules", name), headers=self._guard, about=name)
        await self._exchange.ask(request)

    async def trigger(
        self,
        name: str,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        reason: str = "",
    ) -> Job:
        """Submit its task now, besides its ticks; with other arguments if any are given."""
        body = {**arguments_of(args, kwargs), "reason": reason}
        answer = await self._send("POST", name, body, "trigger")
        return job_of(answer.read(JobView))

    async def backfill(
        self,
        name: str,
        start: datetime,
        end: datetime | None = None,
        *,
        dry_run: bool = False,
    ) -> Sequence[Backfilled | AlreadyFired | Fire]:
        """Fire past ticks that did not fire, up to now if no end is given.

        A dry run only says which ticks there are.
        """
        body = {
            "from": aware("start", start),
            "to": None if end is None else aware("end", end),
            "dry_run": dry_run,
        }
        stored = await self.get(name)
        answer = await self._send("POST", name, body, "backfill")
        return [_verdict(view, stored) for view in answer.read(list[BackfilledView])]

    async def preview(self, name: str, count: int = 10) -> Sequence[datetime]:
        """Its next ticks that will fire as things stand."""
        answer = await self._get(path_of("schedules", name, "preview"), [("n", str(count))], name)
        return [*answer.read(PreviewView).next]

    async def ticks(self, name: str, page: PageRequest | None = None) -> Page[TickRecord]:
        """A page of what became of its ticks, latest first."""
        request = Request("GET", path_of("schedules", name, "ticks"), about=name)
        return await self._page(request, page, TickView, tick_of)

    async def explain(self, name: str, ticks: int = 10, tz: str = "UTC") -> Explanation:
        """Why the schedule did or did not run; the zone is that of the times in the sentences."""
        query = [("ticks", str(ticks)), ("tz", tz)]
        answer = await self._get(path_of("schedules", name, "explain"), query, name)
        view = answer.read(ExplanationView)
        return Explanation(
            view.name,
            view.explanation,
            view.paused,
            view.next,
            None if view.previous_job is None else job_of(view.previous_job),
            tuple(ExplainedTick(tick_of(tick), tick.explanation) for tick in view.ticks),
        )

    async def _change(self, name: str, verb: str, body: Mapping[str, Any]) -> StoredSchedule:
        return _schedule(await self._send("POST", name, body, verb))

    async def _send(self, method: str, name: str, body: Mapping[str, Any], *verb: str) -> Answer:
        """Ask for a change, with the version that it is meant for."""
        path = path_of("schedules", name, *verb)
        request = Request(method, path, body=body_of(body), headers=self._guard, about=name)
        return await self._exchange.ask(request)


def _schedule(answer: Answer) -> StoredSchedule:
    return schedule_of(answer.read(ScheduleView))


def _verdict(view: BackfilledView, stored: StoredSchedule) -> Backfilled | AlreadyFired | Fire:
    if view.job_id is not None:
        return Backfilled(view.tick_at, JobId(view.job_id))
    if view.outcome == "would fire":
        job = replace(stored.schedule.job, schedule=stored.name, tick_at=view.tick_at)
        return Fire(view.tick_at, job)
    return AlreadyFired(view.tick_at)
