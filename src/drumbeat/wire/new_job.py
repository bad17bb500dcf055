"""A job to create, on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from drumbeat.model.job import HIGHEST_PRIORITY

Instant = Annotated[datetime, Meta(tz=True)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Key = Annotated[str, Meta(min_length=1, max_length=500)]


class NewJobView(Struct, kw_only=True, forbid_unknown_fields=True):
    """A job to create. Without a task it goes to the server's `default_task`."""

    task: Name | None = None
    payload: Any | UnsetType = UNSET
    """The one argument of the task. Give this or `args`."""
    args: dict[str, Any] | list[Any] | UnsetType = UNSET
    """The arguments by name, or in order."""
    queue: Name | None = None
    priority: Annotated[int, Meta(ge=0, le=HIGHEST_PRIORITY)] | None = None
    """0 to 100; a higher one runs first."""
    schedule_at: Instant | None = None
    """When it may start; null: now."""
    delay: Annotated[float, Meta(ge=0, le=3.2e9)] | None = None
    """Seconds from now until it may start. Give this or `schedule_at`."""
    timeout: Annotated[float, Meta(gt=0, le=3.2e9)] | None = None
    """Seconds that one attempt may take."""
    dedupe_key: Key | None = None
    """While a job stands for the key, it is the answer and none is created."""
    dedupe_for: Annotated[float, Meta(ge=0, le=3.2e9)] | None = None
    """Seconds after its end for which a job still stands for its key; 86,400 if not given."""
    tags: Annotated[list[Name], Meta(max_length=50)] = []
