"""The root of all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import dataclass_transform


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Event:
    """Something that happened on this node. Every subclass is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    @property
    def exception(self) -> BaseException | None:
        """The exception of a failure, with its traceback; None if the event has none."""
        error: object = getattr(self, "error", None)
        return error if isinstance(error, BaseException) else None
