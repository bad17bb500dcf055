"""Routes that change the state of a schedule, and leave its definition."""

from __future__ import annotations

from msgspec import UnsetType

from drumbeat.api.http.entity_tags import ETAG, IF_MATCH, tagged, version_guard
from drumbeat.api.http.route import LOCATED, AnyRoute, change_route
from drumbeat.api.routes.jobs import created_job
from drumbeat.wire.changes import BackfillView, SkipView, TriggerView
from drumbeat.wire.fields import Arguments
from drumbeat.wire.job import JobView
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import BackfilledView


def _args(body: TriggerView) -> Arguments | None:
    return None if isinstance(body.args, UnsetType) else body.args


ROUTES: tuple[AnyRoute, ...] = (
    change_route(
        "/schedules/{name}/pause",
        "Pause a schedule; its ticks are recorded as skipped",
        ScheduleView,
        lambda call: call.fleet.schedules.pause(
            call.path["name"], call.body.reason, version_guard(call)
        ),
        headers=IF_MATCH,
        answers=ETAG,
        reply=tagged,
        refuses=(404, 409, 412),
    ),
    change_route(
        "/schedules/{name}/resume",
        "Let a schedule fire again, from now on",
        ScheduleView,
        lambda call: call.fleet.schedules.resume(
            call.path["name"], call.body.reason, version_guard(call)
        ),
        headers=IF_MATCH,
        answers=ETAG,
        reply=tagged,
        refuses=(404, 409, 412),
    ),
    change_route(
        "/schedules/{name}/hand-back",
        "Let code define a schedule again that a person has edited",
        ScheduleView,
        lambda call: call.fleet.schedules.hand_back(
            call.path["name"], call.body.reason, version_guard(call)
        ),
        headers=IF_MATCH,
        answers=ETAG,
        reply=tagged,
        refuses=(404, 409, 412),
    ),
    change_route(
        "/schedules/{name}/trigger",
        "Submit the task of a schedule now, in addition to its ticks",
        JobView,
        lambda call: call.fleet.schedules.trigger(
            call.path["name"], _args(call.body), call.body.reason, version_guard(call)
        ),
        status=201,
        headers=IF_MATCH,
        body=TriggerView,
        answers=LOCATED,
        reply=created_job,
        refuses=(404, 412),
    ),
    change_route(
        "/schedules/{name}/skip",
        "Skip one future tick",
        ScheduleView,
        lambda call: call.fleet.schedules.skip(
            call.path["name"], call.body.tick_at, call.body.reason, version_guard(call)
        ),
        headers=IF_MATCH,
        answers=ETAG,
        body=SkipView,
        reply=tagged,
        refuses=(404, 409, 412),
    ),
    change_route(
        "/schedules/{name}/unskip",
        "Undo a skip, so the tick fires",
        ScheduleView,
        lambda call: call.fleet.schedules.unskip(
            call.path["name"], call.body.tick_at, call.body.reason, version_guard(call)
        ),
        headers=IF_MATCH,
        answers=ETAG,
        body=SkipView,
        reply=tagged,
        refuses=(404, 409, 412),
    ),
    change_route(
        "/schedules/{name}/backfill",
        "Fire past ticks that did not fire, or list them",
        list[BackfilledView],
        lambda call: call.fleet.schedules.backfill(
            call.path["name"],
            call.body.start,
            call.body.end,
            dry_run=call.body.dry_run,
            reason=call.body.reason,
            guard=version_guard(call),
        ),
        headers=IF_MATCH,
        body=BackfillView,
        refuses=(404, 412),
    ),
)
