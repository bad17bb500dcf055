"""Jobs to create, on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from drumbeat.model.time.instant import in_range
from drumbeat.wire.fields import (
    Arguments,
    DedupeSeconds,
    ExpirySeconds,
    Instant,
    Key,
    MoreThanZeroSeconds,
    Name,
    Priority,
    Seconds,
    Tags,
)
from drumbeat.wire.parameters import Parameters
from drumbeat.wire.retry import NewRetryView

MOST_AT_ONCE = 1_000


class NewJobView(Struct, kw_only=True, forbid_unknown_fields=True):
    """A job to create. Without a task it goes to the server's `default_task`."""

    task: Name | None = None
    payload: Any | UnsetType = UNSET
    """The one argument of the task. Give this or `args`."""
    args: Arguments | UnsetType = UNSET
    """The arguments by name, or in order."""
    queue: Name | None = None
    priority: Priority | None = None
    """0 to 100; a higher one runs first."""
    schedule_at: Instant | None = None
    """When it may start; null: now."""
    delay: Seconds | None = None
    """Seconds from now until it may start. Give this or `schedule_at`."""
    timeout: MoreThanZeroSeconds | None = None
    """Seconds that one attempt may take."""
    retry: NewRetryView | None = None
    """How often it is tried again if it fails, and when; null: as its task says."""
    dedupe_key: Key | None = None
    """While a job stands for the key, it is the answer and none is created."""
    dedupe_for: DedupeSeconds | None = None
    """Seconds after its end for which a job still stands for its key; 86,400 if not given, at most
    31,536,000, a year."""
    dedupe_scope: Name | None = None
    """Jobs of one scope share their dedupe keys; null: the jobs of this task."""
    tags: Tags = []
    expires: ExpirySeconds | Instant | None = None
    """Until when an attempt may start: seconds after it is due, or an instant; null: for ever."""

    def __post_init__(self) -> None:
        if self.schedule_at is not None:
            in_range("schedule_at", self.schedule_at)
        if isinstance(self.expires, datetime):
            in_range("expires", self.expires)


class NewJobsView(Parameters, kw_only=True, rename={"new": "jobs"}):
    """Jobs to create together, all or none."""

    new: Annotated[list[NewJobView], Meta(min_length=1, max_length=MOST_AT_ONCE)]
