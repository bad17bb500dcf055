"""Bounds of triggers that a caller defines: how deeply they are nested, and which instants.

Triggers that are stored already or declared in code are not checked, so that they stay readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from drumbeat.model.errors import InvalidInput, InvalidTrigger
from drumbeat.model.time.instant import in_range
from drumbeat.model.triggers.anchor import Anchored
from drumbeat.model.triggers.any_of import AnyOf
from drumbeat.model.triggers.once import Once
from drumbeat.model.triggers.trigger import Excluding, Trigger

MOST_NESTED = 10
"""Levels of `any_of` and `excluding` around the innermost trigger, which counts as a level."""


def check_nesting(data: Mapping[str, object]) -> None:
    """Reject a JSON trigger that is nested too deeply, before it is decoded recursively."""
    level: list[Mapping[str, object]] = [data]
    for _ in range(MOST_NESTED):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return
    raise InvalidTrigger(
        f"trigger: triggers are nested more than {MOST_NESTED} levels deep; "
        f"name all of them in one any_of, and all calendars in one excluding"
    )


def check_instants(trigger: Trigger) -> None:
    """Reject a trigger with an instant outside of the accepted range."""
    match trigger:
        case AnyOf(members=members):
            for member in members:
                check_instants(member)
        case Excluding(trigger=inner):
            check_instants(inner)
        case Once(at=at, start=start):
            for instant in at:
                _check("at", instant)
            _check("start", start)
        case Anchored(start=start):
            _check("start", start)
        case _:
            pass


def _inner(data: Mapping[str, object]) -> list[Mapping[str, object]]:
    several = data.get("triggers")
    found: list[object] = [data.get("trigger")]
    if isinstance(several, list):
        found += cast("list[object]", several)
    return [cast("Mapping[str, object]", each) for each in found if isinstance(each, Mapping)]


def _check(field: str, instant: datetime | None) -> None:
    if instant is None:
        return
    try:
        in_range(field, instant)
    except InvalidInput as error:
        raise InvalidTrigger(str(error)) from None
