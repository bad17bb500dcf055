"""Parts: the backends that an app is made of, by what each does for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias


class Part(StrEnum):
    """What a backend serves as. Each is a setting that takes an address."""

    STORE = "store"
    COORDINATOR = "coordinator"
    QUEUE = "queue"


Asked: TypeAlias = Literal["coordinator", "elector", "store"]
"""Who is asked for the leadership: a coordinator, the elector of a user, or the store."""
