"""Edits: guarded writes of schedules by people and by deployments."""

from __future__ import annotations

from collections.abc import Sequence

from bson import ObjectId
from pymongo import UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions, Prepared
from drumbeat.backends.mongo.store.duplicates import refused_places
from drumbeat.backends.mongo.store.schedules import ledger
from drumbeat.backends.mongo.store.schedules.ledger import Signature
from drumbeat.backends.mongo.store.schedules.schedule_document import fields_of, is_as_read
from drumbeat.backends.mongo.store.times import to_number
from drumbeat.model.schedules.plan import Edit, Raced, Written


class Edits:
    """Applies edits, each as a step of its own."""

    def __init__(self, collections: Collections, decisions: Decisions, now: int) -> None:
        self._collections = collections
        self._schedules = collections["schedules"]
        self._decisions = decisions
        self._now = now

    async def run(self, edits: Sequence[Edit]) -> list[Written | Raced]:
        """The edits of different schedules, with verdicts in the same order."""
        written = await self._create([each for each in edits if _only_creates(each)])
        written |= await self._replace([each for each in edits if _only_replaces(each)])
        for edit in edits:
            if edit.name not in written and await self._apply(edit):
                written.add(edit.name)
        return [Written(each.name) if each.name in written else Raced(each.name) for each in edits]

    async def _create(self, edits: Sequence[Edit]) -> set[str]:
        """Create schedules by one command; the names of those that were."""
        if len(edits) < 2:
            return set()
        names = [each.name for each in edits]
        try:
            await self._schedules.insert_many([_new(each) for each in edits], ordered=False)
        except BulkWriteError as error:
            refused = frozenset(refused_places(error))
            return {name for place, name in enumerate(names) if place not in refused}
        return set(names)

    async def _replace(self, edits: Sequence[Edit]) -> set[str]:
        """Replace schedules by one command; the names of those that were for sure."""
        if len(edits) < 2:
            return set()
        stamp = ObjectId()
        updates = [UpdateOne(_as_read(each), _replaced(each, stamp)) for each in edits]
        result = await self._schedules.bulk_write(updates, ordered=False)
        names = {each.name for each in edits}
        if result.matched_count == len(edits):
            return names
        found = self._schedules.find({"_id": {"$in": list(names)}, "edit": stamp}, {"_id": 1})
        return {each["_id"] async for each in found}

    async def _apply(self, edit: Edit) -> bool:
        """Apply one edit; whether the schedule was as it was read."""
        while True:
            found = await self._schedules.find_one({"_id": edit.name})
            if found is not None and "decision" in found:
                await self._decisions.settle(self._collections, found["decision"])
            elif not is_as_read(edit.before, found):
                return False
            elif edit.skips:
                if await self._apply_with_skips(edit, found):
                    return True
            elif await self._write(edit, found):
                return True

    async def _write(self, edit: Edit, found: Document | None) -> bool:
        if found is None:
            try:
                await self._schedules.insert_one(_new(edit))
            except DuplicateKeyError:
                return False
            return True
        seen = _as_seen(found)
        if edit.after is None:
            return (await self._schedules.delete_one(seen)).deleted_count == 1
        return (
            await self._schedules.update_one(seen, _replaced(edit, ObjectId()))
        ).matched_count == 1

    async def _apply_with_skips(self, edit: Edit, found: Document | None) -> bool:
        """Write the schedule and the rows of its skips; False: look again."""
        decision = await self._decisions.begin(self._collections)
        by = Signature(self._now)
        rows = [ledger.skipped(edit.name, skip, by) for skip in edit.skips]
        await ledger.prepare(self._collections, decision, rows)
        marked = await self._mark(edit, found, decision)
        if marked:
            prepared = Prepared(ticks=True, schedules=True)
            return await self._decisions.make(self._collections, decision, prepared)
        await self._decisions.abort(self._collections, decision)
        return False

    async def _mark(self, edit: Edit, found: Document | None, decision: ObjectId) -> bool:
        becomes = None if edit.after is None else fields_of(edit.after)
        mark: Document = {"decision": decision, "next": becomes}
        if found is not None:
            marked = await self._schedules.update_one(_as_seen(found), {"$set": mark})
            return marked.matched_count == 1
        place = {"_id": edit.name, "absent": True, **_first(), **mark}
        try:
            await self._schedules.insert_one(place)
        except DuplicateKeyError:
            return False
        return True


def _only_creates(edit: Edit) -> bool:
    return edit.before is None and edit.after is not None and not edit.skips


def _only_replaces(edit: Edit) -> bool:
    return edit.before is not None and edit.after is not None and not edit.skips


def _first() -> Document:
    return {"revision": 0, "created": ObjectId()}


def _new(edit: Edit) -> Document:
    assert edit.after is not None, "this edit creates"
    return {"_id": edit.name, **_first(), **fields_of(edit.after)}


def _as_read(edit: Edit) -> Document:
    assert edit.before is not None, "this edit replaces"
    before = edit.before
    return {
        "_id": edit.name,
        "version": before.version,
        "cursor": to_number(before.cursor),
        "decision": None,
    }


def _as_seen(found: Document) -> Document:
    return {
        "_id": found["_id"],
        "revision": found["revision"],
        "created": found["created"],
        "decision": None,
    }


def _replaced(edit: Edit, stamp: ObjectId) -> Document:
    assert edit.after is not None, "this edit replaces"
    fields = {**fields_of(edit.after), "edit": stamp}
    return {"$set": fields, "$inc": {"revision": 1}}
