"""Builds and validates requests, and words what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from drumbeat.model.errors import InvalidInput
from drumbeat.model.fleet.token import Scope
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.retry import Strategy
from drumbeat.model.schedules.policy import Misfire, Overlap, RunOn
from drumbeat.model.time.zones import DstGap, DstRepeat
from drumbeat.wire.event import EventKind
from drumbeat.wire.fields import NO_NUL

R = TypeVar("R", bound=msgspec.Struct)

AT = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
NAMED = re.compile(r"(?:unknown|missing required) field `(?P<name>[^`]*)`$")
OUT_OF_RANGE = re.compile(r"^(?P<name>[a-z_.]+) must lie between ")
"""How the errors of `in_range` begin: it checks the object that has the field, not the field."""
NUL = f"matching regex {NO_NUL!r}"
INVALID_WORD = "Invalid enum value"
WORDS: Mapping[str, Iterable[str]] = {
    "status": Status,
    "misfire": Misfire,
    "overlap": Overlap,
    "run_on": RunOn,
    "dst_gap": DstGap,
    "dst_repeat": DstRepeat,
    "strategy": Strategy,
    "scope": Scope,
    "kinds": EventKind,
}
"""The words that a field takes, wherever it stands."""


def request(kind: type[R], fields: Mapping[str, Any]) -> R:
    """A request of these fields, by their names in JSON; `InvalidInput` if one is invalid.

    The HTTP API validates what it decodes. Use this for a request that is built in Python.
    """
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise invalid_request(error) from None


def invalid_request(error: msgspec.ValidationError, part: str = "") -> InvalidInput:
    """The error that names the field and the rule; `part` of the request has the field."""
    text = str(error)
    found = AT.search(text)
    rule = text[: found.start()] if found else text
    field = found["path"] if found else None
    where = ", ".join(filter(None, (part, field)))
    if rule.startswith(INVALID_WORD) and field and (words := WORDS.get(_last(field))):
        rule = f"{rule}; allowed: {', '.join(words)}"
    rule = rule.replace(NUL, "without a NUL")
    if named := NAMED.search(rule) or OUT_OF_RANGE.search(rule):
        field = ".".join(filter(None, (field, named["name"])))
    said = f"{where}: {rule}" if where else rule
    return InvalidInput(said, parameter=field or None, rule=rule)


def _last(path: str) -> str:
    """The name at the end of a path: `status` of `filter.status[0]`."""
    return path.rpartition(".")[2].partition("[")[0]
