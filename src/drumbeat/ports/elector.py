"""The elector: a user's own word on whether this instance leads."""

from __future__ import annotations

from typing import Protocol


class Elector(Protocol):
    """Anything that knows whether this instance leads now.

    It gives liveness only, as a coordinator does: it may be wrong, and two may both say yes.
    """

    async def is_leader(self) -> bool:
        """Whether this instance leads now. An error means that it is not known."""
        ...
