"""Versions of schedules as entity tags: `ETag` in responses, `If-Match` in requests.

The tag names the version of the schedule's definition and pause, which every edit raises. It does
not name where the schedule stands: ticks that fire move `cursor`, `next_tick` and `runs` and leave
the version as it is, so that a change is not refused because a tick fired meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drumbeat.api.http.call import Call
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.router import quoted
from drumbeat.fleet.written import WriteResult
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard
from drumbeat.wire.schedule import ScheduleView

IF_MATCH = {"If-Match": 'Only if the schedule is at this version, such as "7"; * is any.'}
IF_NONE = {"If-None-Match": "* creates the schedule, and replaces none."}
ETAG = {"ETag": 'The version of the schedule, such as "7".'}
ANY = "*"
PRECONDITIONS = frozenset({b"if-match", b"if-none-match"})
TAG = re.compile(r'(?:W/)?(?:"(?P<opaque>[^",]*)"|(?P<bare>[0-9]+))')
LONGEST = 18
"""Digits of a version."""


def version_guard(call: Call[Any, Any]) -> VersionGuard:
    """The guard that the preconditions of the request ask for."""
    return _guard(call.headers) if PRECONDITIONS & call.headers.keys() else UNGUARDED


def tagged(view: ScheduleView) -> Response:
    return json_response(view, 200, {"etag": entity_tag(view.version)})


def created(view: ScheduleView) -> Response:
    location = f"/schedules/{quoted(view.name)}"
    return json_response(view, 201, {"etag": entity_tag(view.version), "location": location})


def written(result: WriteResult[ScheduleView]) -> Response:
    return created(result.view) if result.is_new else tagged(result.view)


def entity_tag(version: int) -> str:
    """The version as an entity tag."""
    return f'"{version}"'


def _guard(headers: Mapping[bytes, bytes]) -> VersionGuard:
    match = _text(headers, b"if-match")
    none_match = _text(headers, b"if-none-match")
    if none_match and none_match != ANY:
        raise _unreadable("if-none-match", "has to be *", none_match)
    if not match and not none_match:
        return UNGUARDED
    versions = None if match in ("", ANY) else _versions(match)
    return VersionGuard(versions, must_exist=bool(match), must_be_absent=bool(none_match))


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1").strip()


def _versions(text: str) -> frozenset[int]:
    """The versions in a list of tags; a tag that is not a version matches nothing.

    A weak tag counts as well: proxies that compress answers make ours weak.
    """
    found = [TAG.fullmatch(part.strip()) for part in text.split(",")]
    tags = [each["opaque"] or each["bare"] or "" for each in found if each is not None]
    if len(tags) != len(found):
        raise _unreadable("if-match", 'has to be a version such as "7", or *', text)
    return frozenset(int(tag) for tag in tags if tag.isdecimal() and len(tag) <= LONGEST)


def _unreadable(field: str, rule: str, text: str) -> Problem:
    return Problem(422, "invalid-input", f"{field} {rule}, not {text!r}", field=field, rule=rule)
