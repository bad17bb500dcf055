"""An entry of the audit log on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from drumbeat.model.audit import AuditEntry, AuditNote


class AuditView(Struct, frozen=True, kw_only=True):
    """Who asked for which change, why, and what came of it."""

    id: int
    at: datetime
    actor: str
    """The name of a token, or of a person."""
    action: str
    """What was asked for, such as `queue.pause`."""
    target: str
    """On what."""
    reason: str = ""
    details: dict[str, Any] = {}
    outcome: str | None = None
    """`done`, or the kind of the refusal; null: not known, or not yet."""


def audit_view(entry: AuditEntry) -> AuditView:
    """The entry as programs see it."""
    note = entry.note
    return AuditView(
        id=entry.id,
        at=entry.at,
        actor=note.actor,
        action=note.action,
        target=note.target,
        reason=note.reason,
        details=dict(note.details),
        outcome=entry.outcome,
    )


def audit_of(view: AuditView) -> AuditEntry:
    """The entry that the view is of."""
    note = AuditNote(view.actor, view.action, view.target, view.reason, view.details)
    return AuditEntry(view.id, view.at, note, view.outcome)
