"""Schedule documents: schedules as the store keeps them.

`revision` is raised by every change. While a decision prepares one, `decision` names it, and `next`
is what the schedule is to become; None: it is to be deleted. A document with `absent` is only the
place of a schedule that a decision is to create.
"""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.backends.mongo.connection.client import Document
from drumbeat.backends.mongo.store.storable_text import name, readable
from drumbeat.backends.mongo.store.times import (
    to_instant,
    to_instant_or_none,
    to_number,
    to_number_or_none,
)
from drumbeat.model.encoding.document import schedule_from_text, schedule_to_text
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import Origin, Revision, Schedule, StoredSchedule

MOST = 100_000
"""Definitions that are kept as values."""

new_stored = fast_constructor(StoredSchedule)
new_revision = fast_constructor(Revision)
_schedules: dict[str, Schedule] = {}


def fields_of(stored: StoredSchedule) -> Document:
    """All fields but those of the store itself."""
    name("the name of a schedule", stored.name)
    return {
        "definition": schedule_to_text(stored.schedule),
        "version": stored.version,
        "cursor": to_number(stored.cursor),
        "next_tick": to_number_or_none(stored.next_tick),
        "created_at": to_number(stored.created_at),
        "updated_at": to_number(stored.updated_at),
        "origin": stored.origin.value,
        "declared": stored.declared,
        "paused": stored.paused,
        "pause_reason": readable(stored.pause_reason),
        "runs": stored.runs,
        "last_job": stored.last_job,
        "skips": sorted(map(to_number, stored.skips)),
    }


def stored_of(document: Document) -> StoredSchedule:
    last_job = document["last_job"]
    return new_stored(
        _schedule_of(document["definition"]),
        document["version"],
        to_instant(document["cursor"]),
        to_instant_or_none(document["next_tick"]),
        to_instant(document["created_at"]),
        to_instant(document["updated_at"]),
        Origin(document["origin"]),
        document["declared"],
        document["paused"],
        document["pause_reason"],
        document["runs"],
        None if last_job is None else JobId(last_job),
        frozenset(map(to_instant, document["skips"])),
    )


def revision_of(document: Document) -> Revision:
    return new_revision(
        document["_id"],
        document["version"],
        to_instant(document["updated_at"]),
        document["paused"],
        document["pause_reason"],
    )


def is_as_read(read: StoredSchedule | None, document: Document | None) -> bool:
    """Whether a schedule still has the version and the cursor that were read."""
    if document is not None and document.get("absent"):
        document = None
    if read is None or document is None:
        return read is None and document is None
    return (read.version, to_number(read.cursor)) == (document["version"], document["cursor"])


def advanced(document: Document, plan: Plan, jobs: Sequence[int]) -> Document:
    """The fields that a plan changes."""
    cursor = to_number(plan.cursor)
    return {
        "cursor": cursor,
        "next_tick": to_number_or_none(plan.next_tick),
        "runs": document["runs"] + len(jobs),
        "last_job": jobs[-1] if jobs else document["last_job"],
        "skips": [skip for skip in document["skips"] if skip > cursor],
    }


def _schedule_of(text: str) -> Schedule:
    known = _schedules.get(text)
    if known is None:
        if len(_schedules) >= MOST:
            _schedules.clear()
        known = _schedules[text] = schedule_from_text(text)
    return known
