"""The collections of the store, and their indexes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

UP, DOWN = 1, -1

COLLECTIONS = (
    "jobs",
    "schedules",
    "ticks",
    "decisions",
    "fence",
    "nodes",
    "queues",
    "limits",
    "rates",
    "audit",
    "tokens",
    "numbers",
    "signals",
    "schema",
)


@dataclass(frozen=True, slots=True)
class Index:
    """One index.

    A unique one is never partial, but sparse: it leaves out documents without its only field.
    """

    collection: str
    name: str
    keys: tuple[tuple[str, int], ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def is_like(self, found: Mapping[str, Any]) -> bool:
        """Whether an index that was found has the same keys, and holds uniqueness alike."""
        keys = tuple((name, order) for name, order in found["key"])
        unique = bool(found.get("unique")) == bool(self.options.get("unique"))
        return keys == self.keys and unique

    def to_json(self) -> dict[str, Any]:
        """As the command `createIndexes` takes it."""
        return {"key": dict(self.keys), "name": self.name, **self.options}


SPARSE: Mapping[str, Any] = {"sparse": True}
UNIQUE: Mapping[str, Any] = {"unique": True, "sparse": True}


def _where(field_name: str, condition: object) -> Mapping[str, Any]:
    return {"partialFilterExpression": {field_name: condition}}


FIRST = (
    Index(
        "jobs",
        "queued",
        (("queue", UP), ("priority", DOWN), ("run_at", UP), ("_id", UP)),
        _where("status", "queued"),
    ),
    Index("jobs", "pending", (("run_at", UP), ("_id", UP)), _where("status", "pending")),
    Index("jobs", "status", (("status", UP), ("queue", UP), ("_id", DOWN))),
    Index("jobs", "guard", (("guard", UP),), UNIQUE),
    Index("jobs", "key", (("key", UP),), SPARSE),
    Index("jobs", "expires_at", (("expires_at", UP),), SPARSE),
    Index("jobs", "finished_at", (("finished_at", UP),), SPARSE),
    Index("jobs", "kept_until", (("kept_until", UP),), SPARSE),
    Index(
        "jobs",
        "schedule",
        (("schedule", UP), ("_id", DOWN)),
        _where("schedule", {"$exists": True}),
    ),
    Index("jobs", "tags", (("tags", UP), ("_id", DOWN)), _where("tags", {"$exists": True})),
    Index("jobs", "decision", (("decision", UP),), SPARSE),
    Index("schedules", "next_tick", (("next_tick", UP),), SPARSE),
    Index("schedules", "decision", (("decision", UP),), SPARSE),
    Index("ticks", "schedule", (("schedule", UP), ("tick_at", DOWN), ("kind", DOWN))),
    Index("ticks", "recorded_at", (("recorded_at", UP), ("_id", UP))),
    Index("ticks", "decision", (("decision", UP),), SPARSE),
    Index("fence", "decision", (("decision", UP),), SPARSE),
    Index("decisions", "at", (("at", UP),)),
    Index("rates", "outdated_at", (("outdated_at", UP),)),
    Index("audit", "at", (("at", UP),)),
    Index("tokens", "digest", (("digest", UP),), UNIQUE),
    Index("tokens", "name_in_use", (("name_in_use", UP),), UNIQUE),
)
"""Those of the first version."""
