"""Steps: a budget for the evaluation of triggers.

Plain triggers compute their next tick directly. Triggers with calendars and `any_of` search for it,
and calendars can exclude nearly everything. Each part of a search, also a nested one, spends steps
of one budget. Unlike a time-out, a count is the same on every machine.
"""

from __future__ import annotations

from drumbeat.model.errors import TriggerTooExpensive

MOST_STEPS = 50_000
"""For the first tick: enough to find that a daily trigger never fires within 50 years."""
STEPS_PER_TICK = 20
"""What each found tick adds to the budget when many are requested."""


class Steps:
    """Counts the steps of an evaluation, and stops it when there are too many."""

    __slots__ = ("most", "spent")

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.most = most
        self.spent = 0

    def spend(self, count: int = 1) -> None:
        """Spend steps of the budget; raises `TriggerTooExpensive` if it is used up."""
        self.spent += count
        if self.spent > self.most:
            raise TriggerTooExpensive(self.most)

    def allow(self, count: int) -> None:
        self.most += count
