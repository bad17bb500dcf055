"""The elector: a user's own word on whether this instance leads."""

from __future__ import annotations

from typing import Protocol

from drumbeat.model.lease import Lease


class Elector(Protocol):
    """Anything that knows whether this instance leads now.

    It gives liveness only, as a coordinator does: it may be wrong, and two may both say yes.
    """

    async def is_leader(self) -> bool:
        """Whether this instance leads now. An error means that it does not."""
        ...


class Confirming(Protocol):
    """Asks a user's elector, for those who have to know right now."""

    async def leads(self) -> bool:
        """Whether the elector says now that this instance leads. An error counts as a no."""
        ...

    async def confirm(self, lease: Lease) -> bool:
        """Whether the elector still says so during this term. A no or an error ends the term."""
        ...

    def refusal(self, lease: Lease) -> str:
        """Why this term was ended, for the log."""
        ...


class _NoElector:
    """Stands for an elector that was not given: the coordinator appoints the leader."""

    async def is_leader(self) -> bool:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "NO_ELECTOR"


NO_ELECTOR: Elector = _NoElector()
"""The default of a parameter, which None cannot be: None is what a broken factory returns."""
