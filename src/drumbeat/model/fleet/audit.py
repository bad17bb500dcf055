"""The audit log: who asked for which change, why, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from drumbeat.model.time.instant import aware


@dataclass(frozen=True, slots=True)
class AuditNote:
    """A change that is about to be made."""

    actor: str
    """Who: the name of a token, or of a person at a terminal."""
    action: str
    """What, as a noun and a verb: `queue.pause`."""
    target: str
    """On what: the name of a schedule or a queue, the number of a job."""
    reason: str = ""
    """Why, in the actor's own words."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """Further facts as JSON values."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A note in the store."""

    id: int
    """Rises with each entry."""
    at: datetime
    note: AuditNote
    outcome: str | None = None
    """"done" or why it was refused; None: not known, or not yet."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted; an empty field does not restrict."""

    actor: str | None = None
    action: str | None = None
    target: str | None = None
    since: datetime | None = None
    """At that instant or later."""
    until: datetime | None = None
    """Before that instant."""

    def __post_init__(self) -> None:
        for name, value in (("since", self.since), ("until", self.until)):
            if value is not None:
                aware(name, value)
