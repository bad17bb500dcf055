"""Fingerprints: tell whether a declared definition has changed since the last deployment."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from hashlib import blake2b
from typing import cast

from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.time.instant import MICROSECOND

BYTES = 16
UTC = "UTC"
OF_ONE_CALL = frozenset({"trace"})
"""Fields of a single submission, not of a definition."""
ADDED_LATER = frozenset({"dedupe_scope", "each_delay", "condition", "expires", "retention"})
"""Fields that older fingerprints do not cover: left out while they are empty, so that an
upgrade does not look like a change of every schedule."""


def fingerprint(schedule: Schedule) -> str:
    """A hash of the declared definition, equal for equal definitions on every node and for ever.

    It covers everything except the name. It is computed before the trigger is bound to its name and
    start, which depend on where and when the schedule was first stored.
    """
    definition = {
        "trigger": schedule.trigger.in_zone(UTC).to_json(),
        "job": _plain(schedule.job),
        "policies": _plain(schedule.policies),
        "description": schedule.description,
    }
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    return blake2b(canonical.encode(), digest_size=BYTES).hexdigest()


def _plain(value: object) -> object:
    """The value as JSON. An unknown type raises `TypeError`."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return value.hex()
        case datetime():
            return value.isoformat()
        case timedelta():
            return value // MICROSECOND
        case tuple():
            return [_plain(item) for item in cast("tuple[object, ...]", value)]
        case _ if is_dataclass(value):
            return {
                field.name: _plain(held)
                for field in fields(value)
                if field.name not in OF_ONE_CALL
                and not (not (held := getattr(value, field.name)) and field.name in ADDED_LATER)
            }
        case _:
            raise TypeError(f"a definition cannot hold {value!r}")
