"""Routes that show, define and explain schedules."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.api.http.entity_tags import (
    ETAG,
    IF_MATCH,
    IF_NONE,
    created,
    tagged,
    version_guard,
    written,
)
from drumbeat.api.http.page_query import Limit, PageQuery, Place
from drumbeat.api.http.route import LOCATED, AnyRoute, Route, change_route, read_route
from drumbeat.model.fleet.token import Scope
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.schedule import LONGEST_NAME
from drumbeat.wire.changes import CronPreviewView
from drumbeat.wire.explanation import ExplanationView
from drumbeat.wire.fields import NO_NUL
from drumbeat.wire.new_schedule import (
    NewScheduleView,
    ScheduleChangesView,
    ScheduleDefinitionView,
)
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import TickView


class ScheduleQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which schedules are wanted, and which page of them."""

    prefix: Annotated[str, Meta(max_length=LONGEST_NAME, pattern=NO_NUL)] = ""
    """Only names that begin with it."""
    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def page(self) -> PageRequest:
        return PageRequest(self.limit, self.after)


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


ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/schedules",
        "List schedules by name",
        list[ScheduleView],
        lambda call: call.fleet.schedules.list(call.query.page(), call.query.prefix),
        query=ScheduleQuery,
    ),
    change_route(
        "/schedules",
        "Create a schedule",
        ScheduleView,
        lambda call: call.fleet.schedules.create(call.body),
        status=201,
        body=NewScheduleView,
        answers=LOCATED | ETAG,
        reply=created,
        refuses=(409,),
    ),
    read_route(
        "/schedules/{name}",
        "Show a schedule",
        ScheduleView,
        lambda call: call.fleet.schedules.get(call.path["name"]),
        answers=ETAG,
        reply=tagged,
    ),
    Route(
        "PUT",
        "/schedules/{name}",
        Scope.OPERATOR,
        lambda call: call.fleet.schedules.replace(
            call.path["name"], call.body, guard=version_guard(call)
        ),
        "Create a schedule, or replace its definition",
        ScheduleView,
        also={201: ScheduleView},
        refuses=(409, 412),
        body=ScheduleDefinitionView,
        audited=True,
        headers=IF_MATCH | IF_NONE,
        answers=LOCATED | ETAG,
        reply=written,
    ),
    Route(
        "PATCH",
        "/schedules/{name}",
        Scope.OPERATOR,
        lambda call: call.fleet.schedules.patch(
            call.path["name"], call.body, guard=version_guard(call)
        ),
        "Change parts of a schedule's definition",
        ScheduleView,
        refuses=(404, 409, 412),
        body=ScheduleChangesView,
        audited=True,
        headers=IF_MATCH,
        answers=ETAG,
        reply=tagged,
    ),
    Route(
        "DELETE",
        "/schedules/{name}",
        Scope.OPERATOR,
        lambda call: call.fleet.schedules.remove(call.path["name"], guard=version_guard(call)),
        "Delete a schedule; its ledger stays",
        None,
        status=204,
        refuses=(404, 409, 412),
        audited=True,
        headers=IF_MATCH,
    ),
    read_route(
        "/schedules/{name}/preview",
        "Show the next ticks of a schedule, and how clock changes affect them",
        PreviewView,
        lambda call: call.fleet.schedules.preview(call.path["name"], call.query.n),
        query=PreviewQuery,
    ),
    read_route(
        "/schedules/{name}/ticks",
        "Show the ledger of a schedule, the latest tick first; it outlives the schedule",
        list[TickView],
        lambda call: call.fleet.schedules.ticks(call.path["name"], call.query.page()),
        query=PageQuery,
        refuses=(),
    ),
    read_route(
        "/schedules/{name}/explain",
        "Explain why a schedule did or did not run",
        ExplanationView,
        lambda call: call.fleet.schedules.explain(
            call.path["name"], call.query.ticks, call.query.tz
        ),
        query=ExplainQuery,
    ),
    Route(
        "POST",
        "/cron/preview",
        Scope.VIEWER,
        lambda call: call.fleet.schedules.preview_rule(call.body.when, call.body.tz, call.body.n),
        "Show the next ticks of a trigger, without a schedule",
        PreviewView,
        body=CronPreviewView,
    ),
)
