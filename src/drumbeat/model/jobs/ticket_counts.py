"""TicketCounts: what a process did with tickets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TicketCounts:
    """Counted since the start of the process."""

    published: int = 0
    dropped: int = 0
    """Tickets that could not be published."""
    received: int = 0
    reclaimed: int = 0
    """Tickets that were delivered again, since their receiver did not acknowledge them."""
