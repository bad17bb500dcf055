"""Decisions: what makes a step that changes several documents happen at one instant.

The decision is a document of its own (docs/adr/0040). Before it is made, new jobs and ledger rows
are *prepared*: they carry the decision and nobody sees them; and existing documents are *marked*
with it, beside what they are to become (`next`). After it they are *finished*. Whoever meets a mark
settles it, as the decision says. Each part of finishing and of undoing matches the mark, so any
number of nodes may do it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from bson import ObjectId
from pymongo import DeleteOne, UpdateOne

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.cancellation import cancelling
from drumbeat.backends.mongo.store.jobs.job_document import PREPARED
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite, jobs_with, write
from drumbeat.backends.mongo.store.latest import exists
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.times import MICROSECONDS
from drumbeat.backends.store_rules import REPLACED
from drumbeat.model.jobs.job import UNFINISHED
from drumbeat.ports.store import Topic

PATIENCE = 5.0
"""Seconds for which others wait for a pending decision before they abort it."""
BREATH = 0.01
"""Seconds between two looks at a pending decision."""
SWEEP_EVERY = 5.0
"""Seconds between two looks for decisions that nobody meets."""
MOST_SWEPT = 100
PENDING, COMMITTED, ABORTED = "pending", "committed", "aborted"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a decision has prepared, so that whoever finishes it looks at nothing else."""

    jobs: Sequence[str] = ()
    """The statuses that new jobs are to have."""
    ticks: bool = False
    schedules: bool = False
    fence: bool = False
    cancels: Sequence[int] = ()
    """Jobs that are to be cancelled."""
    at: int = 0
    """When."""

    def to_document(self) -> Document:
        return {**asdict(self), "jobs": list(self.jobs), "cancels": list(self.cancels)}

    @classmethod
    def of_jobs(cls, documents: Iterable[Document], *, ticks: bool = False) -> Prepared:
        """New jobs, and perhaps the rows of their ticks."""
        return cls(jobs=sorted({each["status"] for each in documents}), ticks=ticks)


class Decisions:
    """Begins, makes and settles decisions."""

    def __init__(self, session: Session, patience: float = PATIENCE) -> None:
        self._session = session
        self._patience = patience
        self._swept_at: float | None = None

    async def begin(self, collections: Collections) -> ObjectId:
        """A pending decision. It exists before the first mark of it does."""
        decision = ObjectId()
        at = await self._session.now(collections)
        await collections["decisions"].insert_one({"_id": decision, "state": PENDING, "at": at})
        return decision

    async def make(self, collections: Collections, decision: ObjectId, prepared: Prepared) -> bool:
        """Commit what was prepared, and finish it.

        False: others have aborted it, nothing of it happens, and what was prepared is undone.
        """
        made = await collections["decisions"].update_one(
            {"_id": decision, "state": PENDING},
            {"$set": {"state": COMMITTED, "prepared": prepared.to_document()}},
        )
        if made.matched_count:
            await self._finish(collections, decision, prepared)
            return True
        await self.abort(collections, decision)
        return False

    async def abort(self, collections: Collections, decision: ObjectId) -> None:
        """Undo what was prepared by a decision of one's own that was not made."""
        pending = {"_id": decision, "state": PENDING}
        await collections["decisions"].update_one(pending, {"$set": {"state": ABORTED}})
        await self._undo(collections, decision)

    async def settle(
        self, collections: Collections, decision: ObjectId, *, patience: float | None = None
    ) -> None:
        """Finish or undo a decision of others whose mark is in the way.

        A pending one is waited for, and aborted once it is older than `patience`.
        """
        patience = self._patience if patience is None else patience
        while True:
            found = await collections["decisions"].find_one({"_id": decision})
            if found is None and await exists(collections["decisions"], {"_id": decision}):
                await self._session.clock.sleep(BREATH)  # it is too young for this read
                continue
            if found is None or found["state"] == ABORTED:
                await self._undo(collections, decision)
                return
            if found["state"] == COMMITTED:
                await self._finish(collections, decision, Prepared(**found["prepared"]))
                self._session.signals.send(*Topic)
                return
            age = await self._session.now(collections) - found["at"]
            if age >= patience * MICROSECONDS:
                pending = {"_id": decision, "state": PENDING}
                await collections["decisions"].update_one(pending, {"$set": {"state": ABORTED}})
            else:
                await self._session.clock.sleep(BREATH)

    async def sweep(self, collections: Collections) -> None:
        """From time to time, settle what crashed nodes have left and nobody meets."""
        elapsed = self._session.clock.elapsed()
        if self._swept_at is None or elapsed - self._swept_at >= SWEEP_EVERY:
            self._swept_at = elapsed
            await self.settle_all(collections)

    async def settle_all(self, collections: Collections) -> None:
        """Settle every decision that is old enough, and every mark of one that is gone."""
        before = await self._session.now(collections) - round(self._patience * MICROSECONDS)
        old = collections["decisions"].find({"at": {"$lte": before}}, {"_id": 1}).limit(MOST_SWEPT)
        decisions = {each["_id"]: None async for each in old}
        for name in ("jobs", "ticks", "schedules", "fence"):
            marked = collections[name].find({"decision": {"$exists": True}}, {"decision": 1})
            async for each in marked.limit(MOST_SWEPT):
                if not await collections["decisions"].count_documents({"_id": each["decision"]}):
                    decisions[each["decision"]] = None
        for decision in decisions:
            await self.settle(collections, decision)

    async def _finish(
        self, collections: Collections, decision: ObjectId, prepared: Prepared
    ) -> None:
        """Let everybody see what was committed, and then forget the decision."""
        mark: Document = {"decision": decision}
        for status in prepared.jobs:
            visible = {"$set": {"status": status}, "$unset": {"decision": "", "becomes": ""}}
            await collections["jobs"].update_many({**mark, "becomes": status}, visible)
        if prepared.cancels:
            await _cancel(collections, decision, prepared)
        if prepared.ticks:
            await collections["ticks"].update_many(mark, {"$unset": {"decision": ""}})
        if prepared.schedules:
            await _advance(collections, mark)
        if prepared.fence:
            await collections["fence"].update_one(mark, {"$unset": {"decision": ""}})
        await collections["decisions"].delete_one({"_id": decision})

    async def _undo(self, collections: Collections, decision: ObjectId) -> None:
        mark: Document = {"decision": decision}
        await collections["jobs"].delete_many({**mark, "status": PREPARED})
        await collections["ticks"].delete_many(mark)
        await collections["schedules"].delete_many({**mark, "absent": True})
        await collections["schedules"].update_many(mark, {"$unset": {"decision": "", "next": ""}})
        await collections["fence"].update_many(mark, {"$unset": {"decision": ""}})
        await collections["decisions"].delete_one({"_id": decision, "state": ABORTED})


async def _advance(collections: Collections, mark: Document) -> None:
    """Turn the marked schedules into what they are to become."""
    changes: list[UpdateOne | DeleteOne] = []
    async for schedule in collections["schedules"].find(mark, {"next": 1}):
        marked = {"_id": schedule["_id"], **mark}
        if schedule["next"] is None:
            changes.append(DeleteOne(marked))
        else:
            unmark = {"decision": "", "next": "", "absent": ""}
            change = {"$set": schedule["next"], "$unset": unmark, "$inc": {"revision": 1}}
            changes.append(UpdateOne(marked, change))
    if changes:
        await collections["schedules"].bulk_write(changes, ordered=False)


async def _cancel(collections: Collections, decision: ObjectId, prepared: Prepared) -> None:
    """Cancel the jobs that a commit replaces, each once."""
    unfinished = {"$in": [status.value for status in UNFINISHED]}
    while True:
        wanted = {
            "_id": {"$in": list(prepared.cancels)},
            "status": unfinished,
            "replaced_by": {"$ne": decision},
        }
        writes: list[JobWrite] = []
        for document in await jobs_with(UNFINISHED, collections["jobs"].find(wanted)):
            change = cancelling(document, REPLACED, prepared.at)
            sets = {**change.sets, "replaced_by": decision}
            writes.append(JobWrite(document, sets, change.unsets))
        if not writes:
            return
        await write(collections, writes)
