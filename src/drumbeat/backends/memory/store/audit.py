"""Audit: the memory store's log of who changed what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import count

from drumbeat.backends.memory.store.step import Step
from drumbeat.backends.store_rules import page_of
from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.audit_details import read, written
from drumbeat.rules.page_position import number_after


class MemoryAudit:
    """Who changed what."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._entries: dict[int, AuditEntry] = {}
        self._ids = count(1)

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        details = read(written(note.details))  # a copy: the caller may change theirs
        with self._step as step:
            now = step.now(at)
            entry = AuditEntry(next(self._ids), now, replace(note, details=details))
            self._entries[entry.id] = entry
            return entry

    async def conclude(self, entry_id: int, outcome: str) -> None:
        with self._step:
            entry = self._entries.get(entry_id)
            if entry is not None and entry.outcome is None:
                self._entries[entry_id] = replace(entry, outcome=outcome)

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        before = number_after(page, "audit")
        with self._step:
            matching = (each for each in self._newest_first(before) if matches(each, wanted))
            return page_of(matching, page.size, "audit", lambda entry: entry.id)

    def prune(self, written_before: datetime, limit: int) -> int:
        """Delete old entries, the oldest first. The caller holds the step."""
        old = sorted(
            (entry.at, entry.id) for entry in self._entries.values() if entry.at <= written_before
        )[:limit]
        for _, entry_id in old:
            del self._entries[entry_id]
        return len(old)

    def _newest_first(self, before: int | None) -> Iterator[AuditEntry]:
        entries = reversed(self._entries.values())
        return (entry for entry in entries if before is None or entry.id < before)


def matches(entry: AuditEntry, wanted: AuditFilter) -> bool:
    """Whether an entry fits every given field of a filter; `until` itself is outside."""
    note = entry.note
    return (
        (wanted.actor is None or note.actor == wanted.actor)
        and (wanted.action is None or note.action == wanted.action)
        and (wanted.target is None or note.target == wanted.target)
        and (wanted.since is None or entry.at >= wanted.since)
        and (wanted.until is None or entry.at < wanted.until)
    )
