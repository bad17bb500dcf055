"""Prefetching: how many attempts a node may hold before it can start them.

A store that is asked once for a thousand jobs gives them in little more time than ten. So while a
backlog is worked through quickly, a node asks for more than it has slots for, and runs those while
the store finds the next. What it holds, no other node can run; so it holds little, by time and not
by number, and gives up at once when it was wrong.

The *allowance* is one number: how many attempts may wait on the node to be started. At the number
of slots or below, nothing is held beyond what the slots seem able to start at once. What is above
is prefetched. It starts at the number of slots, and

- doubles when the store gave all that was asked for and the slots had run out of work meanwhile;
- falls in proportion when one has waited longer than `TARGET` to be started;
- falls to the number of slots when the backlog is over, or when attempts on the average take longer
  than `TARGET`: then no slot will be free soon, and the store can be asked in time;
- falls to that, too, when it is given last attempts. A node that dies spends the attempts that it
  held, and a job should not fail for good that nobody has tried;
- falls to one when attempts had to be given back since they had waited longer than `PATIENCE`.
  Slots that are free and start nothing are no slots: some handler keeps the event loop to itself.
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
        """How many of them it may hold although no slot is free for them."""
        return max(0, self.unstarted - self.slots)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a node saw since it last looked."""

    ended: int = 0
    spent: float = 0.0
    """Seconds that those which ended took in their slots, in all."""
    waited: float = 0.0
    """The longest that any had waited when it was started."""
    gave_up: bool = False
    """Whether some were given back, since they had waited too long."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What to ask the store for: attempts to start at once, and more to hold."""

    limit: int
    ahead: int = 0

    @property
    def total(self) -> int:
        """Both."""
        return self.limit + self.ahead


@dataclass(frozen=True, slots=True)
class Answer:
    """What the store gave."""

    given: int
    ran_dry: bool = False
    """Whether nothing waited for a slot any more when it came."""
    last: bool = False
    """Whether some are the last attempts that their jobs have."""


def allowance_at_start(slots: int) -> Allowance:
    """What a node may hold that has proved nothing yet."""
    return Allowance(slots, slots)


def after(allowance: Allowance, seen: Stretch) -> Allowance:
    """The allowance in the light of what was seen: the same, or less."""
    slots, unstarted = allowance.slots, allowance.unstarted
    if seen.gave_up:
        return Allowance(slots, 1)
    quick = seen.spent <= TARGET * seen.ended if seen.ended else allowance.quick
    if seen.waited > TARGET:
        unstarted = max(1, int(unstarted * TARGET / seen.waited))
    if not quick:
        unstarted = min(unstarted, slots)
    return Allowance(slots, unstarted, quick)


def answered(allowance: Allowance, ask: Ask, answer: Answer) -> Allowance:
    """The allowance in the light of what the store gave."""
    slots, unstarted = allowance.slots, allowance.unstarted
    if answer.given < ask.total or answer.last:
        return replace(allowance, unstarted=min(unstarted, slots))
    if not answer.given or not answer.ran_dry:
        return allowance
    most = slots + MOST_AHEAD if allowance.quick else max(slots, unstarted)
    return replace(allowance, unstarted=min(2 * unstarted, most))


def ask_for(allowance: Allowance, busy: int, waiting: int) -> Ask:
    """What to ask for, with so many slots busy and so many attempts waiting for one."""
    startable = min(allowance.slots - busy, allowance.unstarted)
    limit = max(0, startable - waiting)
    return Ask(limit, max(0, startable + allowance.ahead - waiting - limit))
