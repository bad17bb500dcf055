"""The prefetch limit: how many attempts a node may hold before it can start them.

A claim of a thousand jobs takes little longer than a claim of ten. So while jobs are short and many
wait, a node claims more than it has slots for, and runs those while the store answers the next
claim. No other node can run the jobs that it holds, so it holds only as much as it can start within
a short time, and gives attempts back at once if it cannot.

The *allowance* is one number: how many attempts may wait on the node to be started. At the number
of slots or below, the node holds only what its slots can start at once. The part above is
prefetched. The allowance starts at the number of slots, and

- doubles when the store returned all that was asked for and the slots had run out of work;
- falls in proportion when an attempt has waited longer than `TARGET` to start;
- falls to the number of slots when the backlog is over, or when attempts take longer than `TARGET`
  on average: then no slot will be free soon, and there is time to ask the store;
- falls to that, too, when the store returns last attempts. The attempts that a node holds count
  when it dies, and a job should not fail for good without having been tried;
- falls to one when attempts were given back because they had waited longer than `PATIENCE`: a
  handler blocks the event loop, so free slots do not start anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

TARGET = 0.05
"""Seconds of work that a node may hold beyond what it runs."""
PATIENCE = 0.2
"""Seconds after which an attempt that has not started is given back."""
MOST_AHEAD = 1_000
"""Attempts that a node never holds more of, beyond its slots."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many attempts may wait on a node to be started."""

    slots: int
    unstarted: int
    quick: bool = False
    """Whether the attempts that ended last took less than `TARGET`, on the average."""

    @property
    def ahead(self) -> int:
        """How many of them it may hold without a free slot."""
        return max(0, self.unstarted - self.slots)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What happened on a node since the last check."""

    ended: int = 0
    spent: float = 0.0
    """Seconds that the ended attempts took in all."""
    waited: float = 0.0
    """The longest wait in seconds of an attempt before its start."""
    gave_up: bool = False
    """Whether attempts were given back because they had waited too long."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What to ask the store for: attempts to start at once, and more to hold."""

    limit: int
    ahead: int = 0

    @property
    def total(self) -> int:
        return self.limit + self.ahead


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """What the store returned."""

    given: int
    ran_dry: bool = False
    """Whether no attempt was waiting for a slot when the answer came."""
    last: bool = False
    """Whether some are the last attempts of their jobs."""


def allowance_at_start(slots: int) -> Allowance:
    return Allowance(slots, slots)


def after(allowance: Allowance, seen: Stretch) -> Allowance:
    """The allowance after what happened: the same or less."""
    slots, unstarted = allowance.slots, allowance.unstarted
    if seen.gave_up:
        return Allowance(slots, 1)
    quick = seen.spent <= TARGET * seen.ended if seen.ended else allowance.quick
    if seen.waited > TARGET:
        unstarted = max(1, int(unstarted * TARGET / seen.waited))
    if not quick:
        unstarted = min(unstarted, slots)
    return Allowance(slots, unstarted, quick)


def answered(allowance: Allowance, ask: Ask, answer: ClaimAnswer) -> Allowance:
    """The allowance after an answer of the store."""
    slots, unstarted = allowance.slots, allowance.unstarted
    if answer.given < ask.total or answer.last:
        return replace(allowance, unstarted=min(unstarted, slots))
    if not answer.given or not answer.ran_dry:
        return allowance
    most = slots + MOST_AHEAD if allowance.quick else max(slots, unstarted)
    return replace(allowance, unstarted=min(2 * unstarted, most))


def ask_for(allowance: Allowance, busy: int, waiting: int) -> Ask:
    """What to ask for, by the number of busy slots and of waiting attempts."""
    startable = min(allowance.slots - busy, allowance.unstarted)
    limit = max(0, startable - waiting)
    return Ask(limit, max(0, startable + allowance.ahead - waiting - limit))
