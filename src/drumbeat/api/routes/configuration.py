"""Routes for the shared configuration, and for the settings and tasks of this server."""

from __future__ import annotations

import re
from collections.abc import Mapping

from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import AnyRoute, Route, read_route
from drumbeat.fleet.configuration import ABSENT
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.entry import EntryView, NewEntryView, SettingView
from drumbeat.wire.task import TaskView

REVISION = re.compile(r'(?:W/)?"?(\d{1,18})"?')
IF_MATCH = {"If-Match": 'Only if this revision still stands, such as "7"; * is any.'}
IF_NONE = {"If-None-Match": "* writes only if nothing is there."}
ETAG = {"ETag": "The revision."}


def _tagged(view: EntryView) -> Response:
    return json_response(view, 200, {"etag": f'"{view.revision}"'})


def _revision(headers: Mapping[bytes, bytes]) -> int | None:
    """The revision that a change is meant for; None: any."""
    if headers.get(b"if-none-match", b"").strip() == b"*":
        return ABSENT
    text = headers.get(b"if-match", b"").decode("latin-1").strip()
    if not text or text == "*":
        return None
    found = REVISION.fullmatch(text)
    if found is None:
        raise Problem(
            422,
            "invalid-input",
            f'If-Match has to be a revision such as "7", not {text!r}',
            field="if-match",
        )
    return int(found[1])


ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/configuration/{key}",
        "Show a shared value",
        EntryView,
        lambda call: call.fleet.configuration.get(call.path["key"]),
        answers=ETAG,
        reply=_tagged,
    ),
    Route(
        "PUT",
        "/configuration/{key}",
        Scope.ADMIN,
        lambda call: call.fleet.configuration.put(
            call.path["key"], call.body.value, revision=_revision(call.headers)
        ),
        "Write a shared value; with If-Match only at that revision",
        EntryView,
        refuses=(404, 412),
        body=NewEntryView,
        audited=True,
        headers={**IF_MATCH, **IF_NONE},
        answers=ETAG,
        reply=_tagged,
    ),
    Route(
        "DELETE",
        "/configuration/{key}",
        Scope.ADMIN,
        lambda call: call.fleet.configuration.delete(
            call.path["key"], revision=_revision(call.headers)
        ),
        "Delete a shared value; with If-Match only at that revision",
        None,
        status=204,
        refuses=(404, 409, 412),
        audited=True,
        headers=IF_MATCH,
    ),
    read_route(
        "/settings",
        "Show the settings of this server, with secrets masked",
        dict[str, SettingView],
        lambda call: call.fleet.settings(),
    ),
    read_route(
        "/tasks",
        "List the tasks that this server knows, with their parameters",
        list[TaskView],
        lambda call: call.fleet.tasks(),
    ),
)
