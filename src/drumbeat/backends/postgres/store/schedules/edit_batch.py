"""A batch of edits of schedules, as the JSON list that `put_schedules` takes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from drumbeat.backends.postgres.store.storable_text import name, readable
from drumbeat.backends.sql.schedule_definitions import definition_of
from drumbeat.model.schedules.plan import Edit, Raced, Written
from drumbeat.model.schedules.schedule import StoredSchedule


class EditBatch:
    """A batch of edits, sorted by name: all statements lock schedules in this order."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._order = sorted(range(len(edits)), key=lambda index: edits[index].name)

    @property
    def text(self) -> str:
        return json.dumps([_to_json(self._edits[index]) for index in self._order])

    def verdicts(self, applied: Sequence[bool]) -> list[Written | Raced]:
        """The verdict on each edit, in the caller's order."""
        written = dict(zip(self._order, applied, strict=True))
        return [
            Written(edit.name) if written[index] else Raced(edit.name)
            for index, edit in enumerate(self._edits)
        ]


def _to_json(edit: Edit) -> dict[str, object]:
    before = edit.before
    return {
        "name": name("a schedule's name", edit.name),
        "version_before": None if before is None else before.version,
        "cursor_before": None if before is None else before.cursor.isoformat(),
        **({} if edit.after is None else _columns(edit.after)),
        "skipped": [
            {
                "tick_at": skip.tick_at.isoformat(),
                "through": skip.through.isoformat(),
                "count": skip.count,
                "reason": skip.reason.value,
            }
            for skip in edit.skips
        ]
        or None,
    }


def _columns(stored: StoredSchedule) -> dict[str, object]:
    return {
        "definition": definition_of(stored.schedule),
        "version": stored.version,
        "cursor": stored.cursor.isoformat(),
        "next_tick": None if stored.next_tick is None else stored.next_tick.isoformat(),
        "created_at": stored.created_at.isoformat(),
        "updated_at": stored.updated_at.isoformat(),
        "origin": stored.origin.value,
        "declared": name("declared", stored.declared),
        "paused": stored.paused,
        "pause_reason": readable(stored.pause_reason),
        "runs": stored.runs,
        "last_job": stored.last_job,
        "skips": sorted(skip.isoformat() for skip in stored.skips) or None,
    }
