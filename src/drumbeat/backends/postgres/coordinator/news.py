"""News: the channels on which the coordinator's nodes tell each other."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from drumbeat.backends.hint_waiter import HintWaiter


class News(StrEnum):
    """The channels of the coordinator."""

    LEASES = "leases"
    REGISTRY = "registry"
    CONFIGURATION = "configuration"


CoordinatorWaiter: TypeAlias = HintWaiter[News]
