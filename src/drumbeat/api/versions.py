"""Versions of schedules as entity tags: `ETag` in answers, `If-Match` in requests.

The tag names the version of the schedule's definition and pause, which every edit raises. It does
not name where the schedule stands: ticks that fire move `cursor`, `next_tick` and `runs` and leave
the version as it is, so that a change is not refused because a tick fired meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drumbeat.api.answer import Answer, json_answer
from drumbeat.api.call import Call
from drumbeat.api.desk import Desk
from drumbeat.api.problem import Problem
from drumbeat.api.showing import schedule_shown
from drumbeat.engine.schedules import Schedules
from drumbeat.model.schedule import StoredSchedule
from drumbeat.rules.version_guard import VersionGuard

IF_MATCH = {"If-Match": 'Only if the schedule is at this version, such as "7"; * is any.'}
IF_NONE = {"If-None-Match": "* creates the schedule, and replaces none."}
ETAG = {"ETag": 'The version of the schedule, such as "7".'}
ANY = "*"
TAG = re.compile(r'(?:W/)?(?:"(?P<opaque>[^",]*)"|(?P<bare>[0-9]+))')
LONGEST = 18
"""Digits of a version."""


def guarded(call: Call[Any, Any]) -> Schedules:
    """The schedules, with changes that heed the preconditions of the request."""
    guard = _guard(call.headers)
    return call.desk.schedules if guard is None else call.desk.schedules.guarded(guard)


def schedule_answer(
    desk: Desk,
    stored: StoredSchedule,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """The schedule, with its version as `ETag`."""
    tagged = {"etag": entity_tag(stored.version), **(headers or {})}
    return json_answer(schedule_shown(desk, stored), status, tagged)


def entity_tag(version: int) -> str:
    """The version as an entity tag."""
    return f'"{version}"'


def _guard(headers: Mapping[bytes, bytes]) -> VersionGuard | None:
    match = _text(headers, b"if-match")
    none_match = _text(headers, b"if-none-match")
    if none_match and none_match != ANY:
        raise _unreadable("if-none-match", "has to be *", none_match)
    if not match and not none_match:
        return None
    versions = None if match in ("", ANY) else _versions(match)
    return VersionGuard(versions, must_exist=bool(match), must_be_absent=bool(none_match))


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1").strip()


def _versions(text: str) -> frozenset[int]:
    """The versions that a list of tags names; a tag that we never gave out names none.

    A weak tag counts as well: proxies that compress answers make ours weak.
    """
    found = [TAG.fullmatch(part.strip()) for part in text.split(",")]
    tags = [each["opaque"] or each["bare"] or "" for each in found if each is not None]
    if len(tags) != len(found):
        raise _unreadable("if-match", 'has to be a version such as "7", or *', text)
    return frozenset(int(tag) for tag in tags if tag.isdecimal() and len(tag) <= LONGEST)


def _unreadable(field: str, rule: str, text: str) -> Problem:
    return Problem(422, "invalid-input", f"{field} {rule}, not {text!r}", field=field, rule=rule)
