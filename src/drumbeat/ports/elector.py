"""The elector: user code that decides whether this instance leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from drumbeat.model.fleet.lease import Lease


class Elector(Protocol):
    """User code that knows whether this instance leads now.

    Like a coordinator it may be wrong, and two instances may both lead: the store stays safe.
    """

    async def is_leader(self) -> bool:
        """Whether this instance leads now. An error means that it does not."""
        ...


@runtime_checkable
class LoggingElector(Protocol):
    """An elector that logs when this instance begins to lead and when it no longer does."""

    def leave_logging(self) -> None:
        """Stop that: whoever asks this elector logs it."""
        ...


class Confirming(Protocol):
    """Asks a user's elector at the moment when the answer is needed."""

    async def leads(self) -> bool:
        """Whether the elector says that this instance leads. An error counts as a no."""
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
