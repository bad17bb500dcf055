"""Fields that several shapes share, each with its bounds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Raw, UnsetType

from drumbeat.model.jobs.dedupe import LONGEST_DEDUPE
from drumbeat.model.jobs.expiry import LONGEST_EXPIRY
from drumbeat.model.jobs.job import HIGHEST_PRIORITY
from drumbeat.model.time.instant import in_range

NO_NUL = r"^[^\u0000]*$"
LONGEST_LENGTH = 3.2e9
"""In seconds: about a hundred years."""

Instant = Annotated[datetime, Meta(tz=True)]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=NO_NUL)]
Key = Annotated[str, Meta(min_length=1, max_length=500, pattern=NO_NUL)]
Reason = Annotated[str, Meta(max_length=1_000, pattern=NO_NUL)]
Words = Annotated[str, Meta(max_length=4_000, pattern=NO_NUL)]
Priority = Annotated[int, Meta(ge=0, le=HIGHEST_PRIORITY)]
Seconds = Annotated[float, Meta(ge=0, le=LONGEST_LENGTH)]
DedupeSeconds = Annotated[float, Meta(ge=0, le=LONGEST_DEDUPE.total_seconds())]
MoreThanZeroSeconds = Annotated[float, Meta(gt=0, le=LONGEST_LENGTH)]
ExpirySeconds = Annotated[float, Meta(gt=0, le=LONGEST_EXPIRY.total_seconds())]
Tags = Annotated[list[Name], Meta(max_length=50)]
Arguments: TypeAlias = dict[str, Any] | list[Any]
"""By name, or in order."""
When: TypeAlias = (
    Annotated[str, Meta(min_length=1, max_length=500, pattern=NO_NUL)] | dict[str, Any]
)
"""A cron expression, or a trigger as a schedule's `trigger` shows it."""
Json: TypeAlias = Raw | Any
"""JSON that Drumbeat carries and does not read."""


def check_instants(**given: datetime | UnsetType | None) -> None:
    """Refuse instants, by the names of their fields, that lie outside of the accepted range.

    For `__post_init__`: an `InvalidInput` is a `ValueError`, which msgspec reports as a validation
    error with the path of the object.
    """
    for field, instant in given.items():
        if isinstance(instant, datetime):
            in_range(field, instant)
