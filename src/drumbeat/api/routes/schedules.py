"""Schedules: look at them, define them, and say why one did or did not run."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import asdict

from drumbeat.api.answer import Answer, Listed
from drumbeat.api.call import Call, Nothing
from drumbeat.api.paging import Limit, PageQuery, Place, bounded_page
from drumbeat.api.previewing import preview_view
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import about
from drumbeat.api.resolver import AnyRoute, quoted
from drumbeat.api.route import LOCATED, Route
from drumbeat.api.scheduling import changed, definition_of, trigger_of
from drumbeat.api.showing import job_shown, schedule_bytes, schedule_shown
from drumbeat.api.versions import ETAG, IF_MATCH, IF_NONE, guarded, schedule_answer
from drumbeat.engine.evaluation import evaluated
from drumbeat.model.page import PageRequest
from drumbeat.model.schedule import LONGEST_NAME
from drumbeat.model.token import Scope
from drumbeat.model.zones import zone
from drumbeat.rules.explaining import explain_schedule, explain_tick
from drumbeat.rules.moments import Moments
from drumbeat.rules.previewing import next_ticks
from drumbeat.wire.changes import CronPreviewView
from drumbeat.wire.explanation import ExplainedTickView, ExplanationView
from drumbeat.wire.fields import NO_NUL
from drumbeat.wire.new_schedule import (
    NewScheduleView,
    ScheduleChangesView,
    ScheduleDefinitionView,
)
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import TickView, tick_view


class ScheduleQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which schedules are wanted, and which page of them."""

    prefix: Annotated[str, Meta(max_length=LONGEST_NAME, pattern=NO_NUL)] = ""
    """Only names that begin with it."""
    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""


class PreviewQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How much of a preview is wanted."""

    n: Annotated[int, Meta(ge=1, le=1_000)] = 10
    """How many ticks."""


class ExplainQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How much is to be explained."""

    ticks: Annotated[int, Meta(ge=1, le=1_000)] = 10
    """How many rows of the ledger."""
    tz: Annotated[str, Meta(min_length=1, max_length=100)] = "UTC"
    """The zone of the times in the sentences."""


async def list_schedules(call: Call[ScheduleQuery, Any]) -> Listed:
    """A page of schedules."""
    query = call.query
    schedules = call.desk.schedules
    page = await bounded_page(
        lambda page: schedules.list(page, query.prefix),
        PageRequest(query.limit, query.after),
        schedule_bytes,
    )
    return Listed([schedule_shown(call.desk, stored) for stored in page.items], page.next)


async def show(call: Call[Nothing, Any]) -> Answer:
    """The schedule."""
    return schedule_answer(call.desk, await call.desk.schedules.get(call.path["name"]))


async def create(call: Call[Nothing, NewScheduleView]) -> Answer:
    """The new schedule."""
    desk, name = call.desk, call.body.name
    stored = await desk.schedules.create(definition_of(name, call.body, desk))
    return schedule_answer(desk, stored, 201, _location(name))


async def put(call: Call[Nothing, ScheduleDefinitionView]) -> Answer:
    """The schedule: 201 if it is new, 200 if it was replaced."""
    desk, name = call.desk, call.path["name"]
    if len(name) > LONGEST_NAME:
        rule = f"at most {LONGEST_NAME} characters"
        said = f"the name of a schedule has {rule}, and not {len(name)}"
        raise Problem(422, "invalid-input", said, field="name", rule=rule)
    stored, is_new = await guarded(call).written(definition_of(name, call.body, desk))
    if is_new:
        return schedule_answer(desk, stored, 201, _location(name))
    return schedule_answer(desk, stored)


async def patch(call: Call[Nothing, ScheduleChangesView]) -> Answer:
    """The schedule, changed."""
    desk = call.desk
    stored = await guarded(call).amend(
        call.path["name"], lambda schedule: changed(schedule, call.body, desk)
    )
    return schedule_answer(desk, stored)


async def delete(call: Call[Nothing, Any]) -> None:
    """Nothing is left of it but its ledger."""
    await guarded(call).remove(call.path["name"])


async def preview(call: Call[PreviewQuery, Any]) -> PreviewView:
    """The ticks that will fire as things stand."""
    desk, name = call.desk, call.path["name"]
    stored = await desk.schedules.get(name)
    ticks = await desk.schedules.preview(name, call.query.n)
    now = await desk.store.now()
    return preview_view(stored.schedule.trigger, ticks, now, name)


async def cron_preview(call: Call[Nothing, CronPreviewView]) -> PreviewView:
    """The ticks that a schedule with this rule would have from now on."""
    body = call.body
    now = await call.desk.store.now()
    trigger = trigger_of(body.when, body.tz).anchored(now)
    with about("when"):
        ticks = await evaluated(lambda steps: next_ticks(trigger, now, body.n, steps))
    return preview_view(trigger, ticks, now)


async def ticks(call: Call[PageQuery, Any]) -> Listed:
    """A page of the ledger."""
    page = await call.desk.schedules.ticks(call.path["name"], call.query.page())
    return Listed([tick_view(tick) for tick in page.items], page.next)


async def explain(call: Call[ExplainQuery, Any]) -> ExplanationView:
    """Sentences about the schedule and about each of its last ticks."""
    desk, name = call.desk, call.path["name"]
    place = zone(call.query.tz).info
    evidence = await desk.explaining.gather(name, call.query.ticks)
    moments, last = Moments(evidence.as_of, place), evidence.previous
    return ExplanationView(
        name=name,
        explanation=tuple(explain_schedule(evidence, moments)),
        paused=evidence.stored.paused,
        next=tuple(evidence.next),
        previous_job=None if last is None else job_shown(desk, last),
        ticks=tuple(
            ExplainedTickView(
                **asdict(tick_view(tick)),
                explanation=explain_tick(tick, moments, evidence.job_of(tick)),
            )
            for tick in evidence.ticks
        ),
    )


def _location(name: str) -> dict[str, str]:
    return {"location": f"/schedules/{quoted(name)}"}


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/schedules",
        Scope.VIEWER,
        list_schedules,
        "List schedules by name",
        list[ScheduleView],
        query=ScheduleQuery,
    ),
    Route(
        "POST",
        "/schedules",
        Scope.OPERATOR,
        create,
        "Create a schedule",
        ScheduleView,
        status=201,
        refuses=(409,),
        body=NewScheduleView,
        change="schedule.create",
        answers=LOCATED | ETAG,
    ),
    Route(
        "GET",
        "/schedules/{name}",
        Scope.VIEWER,
        show,
        "Show a schedule",
        ScheduleView,
        refuses=(404,),
        answers=ETAG,
    ),
    Route(
        "PUT",
        "/schedules/{name}",
        Scope.OPERATOR,
        put,
        "Create a schedule, or replace its definition",
        ScheduleView,
        also={201: ScheduleView},
        refuses=(409, 412),
        body=ScheduleDefinitionView,
        change="schedule.put",
        headers=IF_MATCH | IF_NONE,
        answers=LOCATED | ETAG,
    ),
    Route(
        "PATCH",
        "/schedules/{name}",
        Scope.OPERATOR,
        patch,
        "Change parts of a schedule's definition",
        ScheduleView,
        refuses=(404, 409, 412),
        body=ScheduleChangesView,
        change="schedule.patch",
        headers=IF_MATCH,
        answers=ETAG,
    ),
    Route(
        "DELETE",
        "/schedules/{name}",
        Scope.OPERATOR,
        delete,
        "Delete a schedule; its ledger stays",
        None,
        status=204,
        refuses=(404, 409, 412),
        change="schedule.delete",
        headers=IF_MATCH,
    ),
    Route(
        "GET",
        "/schedules/{name}/preview",
        Scope.VIEWER,
        preview,
        "Show the next ticks of a schedule, with what clock changes do to them",
        PreviewView,
        refuses=(404,),
        query=PreviewQuery,
    ),
    Route(
        "GET",
        "/schedules/{name}/ticks",
        Scope.VIEWER,
        ticks,
        "Show the ledger of a schedule, the latest tick first; it outlives the schedule",
        list[TickView],
        query=PageQuery,
    ),
    Route(
        "GET",
        "/schedules/{name}/explain",
        Scope.VIEWER,
        explain,
        "Say why a schedule did or did not run",
        ExplanationView,
        refuses=(404,),
        query=ExplainQuery,
    ),
    Route(
        "POST",
        "/cron/preview",
        Scope.VIEWER,
        cron_preview,
        "Show the next ticks of a rule that no schedule has",
        PreviewView,
        body=CronPreviewView,
    ),
)
