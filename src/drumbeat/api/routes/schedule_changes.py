"""Schedules: the verbs that change where one stands, and leave its definition."""

from __future__ import annotations

from datetime import datetime

from msgspec import UnsetType

from drumbeat.api.answer import Answer, json_answer
from drumbeat.api.call import Call, Nothing
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import about
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import LOCATED, Route
from drumbeat.api.showing import job_shown
from drumbeat.api.submitting import with_arguments
from drumbeat.api.versions import ETAG, IF_MATCH, guarded, schedule_answer
from drumbeat.model.job import JobSpec
from drumbeat.model.token import Scope
from drumbeat.wire.changes import BackfillView, ReasonView, SkipView, TriggerView
from drumbeat.wire.job import JobView
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import BackfilledView, backfilled_view


async def pause(call: Call[Nothing, ReasonView]) -> Answer:
    """The schedule, paused."""
    stored = await guarded(call).pause(call.path["name"], call.body.reason)
    return schedule_answer(call.desk, stored)


async def resume(call: Call[Nothing, ReasonView]) -> Answer:
    """The schedule, which fires again."""
    return schedule_answer(call.desk, await guarded(call).resume(call.path["name"]))


async def hand_back(call: Call[Nothing, ReasonView]) -> Answer:
    """The schedule, which the next declaration in code defines again."""
    return schedule_answer(call.desk, await guarded(call).hand_back(call.path["name"]))


async def trigger(call: Call[Nothing, TriggerView]) -> Answer:
    """The job that was submitted."""
    desk, args = call.desk, call.body.args

    def changed(spec: JobSpec) -> JobSpec:
        return spec if isinstance(args, UnsetType) else with_arguments(spec, args, desk)

    job = await guarded(call).trigger_with(call.path["name"], changed)
    return json_answer(job_shown(desk, job), 201, {"location": f"/jobs/{job.id}"})


async def skip(call: Call[Nothing, SkipView]) -> Answer:
    """The schedule, with one tick fewer to come."""
    schedules, name, tick_at = guarded(call), call.path["name"], call.body.tick_at
    if tick_at is None:
        coming = await schedules.preview(name, 1)
        if not coming:
            raise Problem(409, "no-tick", f"schedule {name!r} has no tick to come")
        (tick_at,) = coming
    with about("tick_at"):
        return schedule_answer(call.desk, await schedules.skip(name, tick_at))


async def unskip(call: Call[Nothing, SkipView]) -> Answer:
    """The schedule, which fires at that tick after all."""
    schedules, name, tick_at = guarded(call), call.path["name"], call.body.tick_at
    if tick_at is None:
        tick_at = min((await schedules.get(name)).skips, default=None)
        if tick_at is None:
            raise Problem(409, "no-tick", f"schedule {name!r} has no tick that is skipped")
    with about("tick_at"):
        return schedule_answer(call.desk, await schedules.unskip(name, tick_at))


async def backfill(call: Call[Nothing, BackfillView]) -> list[BackfilledView]:
    """What became of each tick."""
    desk, body = call.desk, call.body
    name, now = call.path["name"], await desk.store.now()
    end = body.end or now
    _check_past("to", end, f"not after now, {now.isoformat()}", now)
    _check_past("from", body.start, f"not after to, {end.isoformat()}", end)
    with about("from"):
        found = await guarded(call).backfill(name, body.start, end, dry_run=body.dry_run)
    return [backfilled_view(verdict) for verdict in found]


def _check_past(field: str, given: datetime, rule: str, last: datetime) -> None:
    if given > last:
        said = f"{field} is {given.isoformat()}, and has to be {rule}"
        raise Problem(422, "invalid-input", said, field=field, rule=rule)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/schedules/{name}/pause",
        Scope.OPERATOR,
        pause,
        "Pause a schedule; its ticks are recorded as skipped",
        ScheduleView,
        refuses=(404, 409, 412),
        headers=IF_MATCH,
        answers=ETAG,
        body=ReasonView,
        change="schedule.pause",
    ),
    Route(
        "POST",
        "/schedules/{name}/resume",
        Scope.OPERATOR,
        resume,
        "Let a schedule fire again, from now on",
        ScheduleView,
        refuses=(404, 409, 412),
        headers=IF_MATCH,
        answers=ETAG,
        body=ReasonView,
        change="schedule.resume",
    ),
    Route(
        "POST",
        "/schedules/{name}/hand-back",
        Scope.OPERATOR,
        hand_back,
        "Let code define a schedule again that a person has edited",
        ScheduleView,
        refuses=(404, 409, 412),
        headers=IF_MATCH,
        answers=ETAG,
        body=ReasonView,
        change="schedule.hand-back",
    ),
    Route(
        "POST",
        "/schedules/{name}/trigger",
        Scope.OPERATOR,
        trigger,
        "Submit the task of a schedule now, besides its ticks",
        JobView,
        status=201,
        refuses=(404, 412),
        headers=IF_MATCH,
        body=TriggerView,
        change="schedule.trigger",
        answers=LOCATED,
    ),
    Route(
        "POST",
        "/schedules/{name}/skip",
        Scope.OPERATOR,
        skip,
        "Skip one tick that is still to come",
        ScheduleView,
        refuses=(404, 409, 412),
        headers=IF_MATCH,
        answers=ETAG,
        body=SkipView,
        change="schedule.skip",
    ),
    Route(
        "POST",
        "/schedules/{name}/unskip",
        Scope.OPERATOR,
        unskip,
        "Let a tick that was skipped fire after all",
        ScheduleView,
        refuses=(404, 409, 412),
        headers=IF_MATCH,
        answers=ETAG,
        body=SkipView,
        change="schedule.unskip",
    ),
    Route(
        "POST",
        "/schedules/{name}/backfill",
        Scope.OPERATOR,
        backfill,
        "Fire past ticks that did not fire, or say which there are",
        list[BackfilledView],
        refuses=(404, 412),
        headers=IF_MATCH,
        body=BackfillView,
        change="schedule.backfill",
    ),
)
