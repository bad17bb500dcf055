"""An entry of the audit log on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from drumbeat.model.fleet.audit import AuditEntry


class AuditView(Struct, frozen=True, kw_only=True):
    """Who requested which change, why, and its outcome."""

    id: int
    at: datetime
    actor: str
    """The name of a token, or of a person."""
    action: str
    """The requested change, such as `queue.pause`."""
    target: str
    """What was changed, such as the name of a queue."""
    reason: str = ""
    details: dict[str, Any] = {}
    outcome: str | None = None
    """`done`, or the kind of the error; null: it is not known, or the change still runs."""


def audit_view(entry: AuditEntry) -> AuditView:
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
