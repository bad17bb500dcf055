"""Fingerprints: telling a definition that changed from one that was only deployed again."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from hashlib import blake2b
from typing import cast

from drumbeat.model.schedule import Schedule

MICROSECOND = timedelta(microseconds=1)
BYTES = 16
OF_ONE_CALL = frozenset({"trace"})
"""What tells of a single submission, and is no part of a definition."""


def fingerprint(schedule: Schedule) -> str:
    """A hash of the definition as it was declared: equal for equal ones, on every node, for ever.

    It covers all but the name, under which it is stored. It is taken before the trigger gets its
    name and its start, which depend on where and when the schedule was first seen.
    """
    definition = {
        "trigger": schedule.trigger.to_json(),
        "job": _plain(schedule.job),
        "policies": _plain(schedule.policies),
        "description": schedule.description,
    }
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    return blake2b(canonical.encode(), digest_size=BYTES).hexdigest()


def _plain(value: object) -> object:
    """The value as JSON has it. A type that it does not know is an error, never a guess."""
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
                field.name: _plain(getattr(value, field.name))
                for field in fields(value)
                if field.name not in OF_ONE_CALL
            }
        case _:
            raise TypeError(f"a definition cannot hold {value!r}")
