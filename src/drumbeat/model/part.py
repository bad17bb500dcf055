"""Parts: the backends of an app by their function."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias


class Part(StrEnum):
    """The function of a backend. Each is a setting that takes an address."""

    STORE = "store"
    COORDINATOR = "coordinator"
    QUEUE = "queue"


Asked: TypeAlias = Literal["coordinator", "elector", "store"]
"""Who decides about the leadership: a coordinator, a user's elector, or the store."""
