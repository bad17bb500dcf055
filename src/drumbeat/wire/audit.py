"""An entry of the audit log on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from drumbeat.model.fleet.audit import AuditEntry


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
