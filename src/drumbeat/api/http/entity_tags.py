"""Entity tags: `ETag` in responses, `If-Match` and `If-None-Match` in requests.

The tag of a schedule is the version of its definition and pause, which every edit raises. It does
not name where the schedule stands: ticks that fire move `cursor`, `next_tick` and `runs` and leave
the version as it is, so that a change is not refused because a tick fired meanwhile. The tag of a
shared value is its revision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from drumbeat.api.http.asgi import Headers
from drumbeat.api.http.problem import Problem
from drumbeat.fleet.configuration import ABSENT
from drumbeat.fleet.endpoint import GUARD, REVISION
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard
from drumbeat.wire.entry import EntryView
from drumbeat.wire.schedule import ScheduleView

ANY = "*"
PRECONDITIONS = frozenset({b"if-match", b"if-none-match"})
TAG = re.compile(r'(?:W/)?(?:"(?P<opaque>[^",]*)"|(?P<bare>[0-9]+))')
LONGEST = 18
"""Digits of a version."""


class Tag(NamedTuple):
    """The entity tag of a view."""

    number: Callable[[Any], int]
    meaning: str

    @property
    def header(self) -> Mapping[str, str]:
        return {"ETag": self.meaning}


class Guard(NamedTuple):
    """A parameter of operations that is read from preconditions."""

    parameter: str
    read: Callable[[Headers], object]
    if_match: str
    if_none_match: str

    def headers(self, method: str) -> Mapping[str, str]:
        """The headers, with their meaning. Only a PUT can create something."""
        creating = {"If-None-Match": self.if_none_match} if method == "PUT" else {}
        return {"If-Match": self.if_match, **creating}


def entity_tag(number: int) -> str:
    return f'"{number}"'


def version_guard(headers: Headers) -> VersionGuard:
    """The guard that the preconditions of a request ask for."""
    return _guard(headers) if PRECONDITIONS & headers.keys() else UNGUARDED


def revision(headers: Headers) -> int | None:
    """The revision of a shared value that a change is meant for; None: any."""
    guard = version_guard(headers)
    if guard.must_be_absent:
        return ABSENT
    if guard.versions is None:
        return None
    if len(guard.versions) != 1:
        raise _unreadable("if-match", 'has to be one revision such as "7"', headers[b"if-match"])
    return min(guard.versions)


def _guard(headers: Headers) -> VersionGuard:
    match = _text(headers, b"if-match")
    none_match = _text(headers, b"if-none-match")
    if none_match and none_match != ANY:
        raise _unreadable("if-none-match", "has to be *", headers[b"if-none-match"])
    if not match and not none_match:
        return UNGUARDED
    versions = None if match in ("", ANY) else _versions(headers[b"if-match"])
    return VersionGuard(versions, must_exist=bool(match), must_be_absent=bool(none_match))


def _text(headers: Headers, name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1").strip()


def _versions(given: bytes) -> frozenset[int]:
    """The versions in a list of tags; a tag that is not a version matches nothing.

    A weak tag counts as well: proxies that compress answers make ours weak.
    """
    found = [TAG.fullmatch(part.strip()) for part in given.decode("latin-1").split(",")]
    tags = [each["opaque"] or each["bare"] or "" for each in found if each is not None]
    if len(tags) != len(found):
        raise _unreadable("if-match", 'has to be a version such as "7", or *', given)
    return frozenset(int(tag) for tag in tags if tag.isdecimal() and len(tag) <= LONGEST)


def _unreadable(field: str, rule: str, given: bytes) -> Problem:
    text = given.decode("latin-1").strip()
    return Problem(422, "invalid-input", f"{field} {rule}, not {text!r}", field=field, rule=rule)


ETAGS: Mapping[Any, Tag] = {
    ScheduleView: Tag(attrgetter("version"), 'The version of the schedule, such as "7".'),
    EntryView: Tag(attrgetter("revision"), "The revision."),
}
GUARDS = (
    Guard(
        GUARD,
        version_guard,
        'Only if the schedule is at this version, such as "7"; * is any.',
        "* creates the schedule, and replaces none.",
    ),
    Guard(
        REVISION,
        revision,
        'Only if this revision still stands, such as "7"; * is any.',
        "* writes only if nothing is there.",
    ),
)
