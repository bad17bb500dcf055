"""Steps: a budget for the evaluation of triggers.

Plain triggers find their next tick directly. Triggers with calendars, and joined ones, search for
it, and calendars can exclude nearly everything. Each part of such a search spends steps of one
budget, also where searches are nested. A count is the same on every machine; a time-out is not.
"""

from __future__ import annotations

from drumbeat.model.errors import TriggerTooExpensive

MOST_STEPS = 50_000
"""For the first tick: enough to find that a daily trigger never fires within 50 years."""
STEPS_PER_TICK = 20
"""What each found tick adds, when many are asked for."""


class Steps:
    """Counts the steps of an evaluation, and ends it when there are too many."""

    __slots__ = ("most", "spent")

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.most = most
        self.spent = 0

    def spend(self, count: int = 1) -> None:
        """Take some of the budget; `TriggerTooExpensive` if there is not enough left."""
        self.spent += count
        if self.spent > self.most:
            raise TriggerTooExpensive(self.most)

    def allow(self, count: int) -> None:
        """Add to the budget."""
        self.most += count
