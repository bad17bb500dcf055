"""Rooms: each place where handlers run has slots of its own, and claims for those alone.

Handlers on the event loop and in threads begin as soon as a slot is free. Handlers in processes
need a child process, of which there are few. If both were claimed together, jobs for processes
would take up the slots of the others, and would be held by a node that cannot start them. So the
worker asks the store once for each room, for the tasks of that room and for as many as it can
start. A node without tasks for processes has one room and asks once. See ADR 0026.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence

from drumbeat.engine.attempts import Attempts
from drumbeat.engine.process_slots import ProcessSlots
from drumbeat.engine.registry import Registry
from drumbeat.engine.run import Run
from drumbeat.engine.slots import Slots
from drumbeat.engine.task import Place
from drumbeat.model.ending import Ending, GivenBack
from drumbeat.model.job import Attempt, Hold
from drumbeat.rules.prefetching import Answer, Ask, after, allowance_at_start, answered, ask_for

PROCESSES = frozenset({Place.PROCESS})


class Room(ABC):
    """The tasks of one place or more, and the slots in which they run."""

    def __init__(self, places: frozenset[Place], slots: Slots, registry: Registry) -> None:
        self._places = places
        self._registry = registry
        self.slots = slots
        self.ask_at = 0.0
        """Until then, by elapsed time, the store had nothing for it. A hint resets it."""

    @property
    def tasks(self) -> frozenset[str]:
        """The names of its tasks."""
        return self._registry.runnable_in(self._places)

    @property
    @abstractmethod
    def needy(self) -> bool:
        """Whether the store should be asked for more."""

    @property
    def has_plenty(self) -> bool:
        """Whether it holds enough for a while."""
        return False

    @property
    def ahead(self) -> int:
        """How many attempts it may hold although no slot is free for them."""
        return 0

    @property
    def lasts(self) -> bool:
        """Whether it holds attempts that its slots will start by themselves, one after another."""
        return False

    @abstractmethod
    def ask(self) -> Ask:
        """What to ask the store for."""

    @abstractmethod
    def hand_over(self, ask: Ask, attempts: Sequence[Attempt]) -> None:
        """Start what the store gave."""


class SlotRoom(Room):
    """Handlers that begin as soon as a slot is free: on the event loop and in threads."""

    def __init__(self, places: frozenset[Place], slots: Slots, registry: Registry) -> None:
        super().__init__(places, slots, registry)
        self._allowance = allowance_at_start(slots.count)

    @property
    def needy(self) -> bool:
        """Whether most of what it was last given has started."""
        return not self.slots.have_plenty

    @property
    def has_plenty(self) -> bool:
        """Whether less than half of what it was last given has started."""
        return self.slots.have_plenty

    @property
    def ahead(self) -> int:
        """How many attempts it may hold although no slot is free for them."""
        return self._allowance.ahead

    @property
    def lasts(self) -> bool:
        """Whether attempts wait for a slot."""
        return self.slots.waiting > 0

    def ask(self) -> Ask:
        """As many as can start, and more while a backlog is worked through quickly."""
        slots = self.slots
        self._allowance = after(self._allowance, slots.seen())
        return ask_for(self._allowance, slots.busy, slots.waiting)

    def hand_over(self, ask: Ask, attempts: Sequence[Attempt]) -> None:
        """Start what the store gave, and learn from how much it was."""
        answer = Answer(len(attempts), self.slots.waiting == 0, _any_is_last(attempts))
        self._allowance = answered(self._allowance, ask, answer)
        self.slots.give(attempts)


class ProcessRoom(Room):
    """Handlers that need a process: nothing is claimed without a free one."""

    def __init__(self, slots: ProcessSlots, registry: Registry) -> None:
        super().__init__(PROCESSES, slots, registry)
        self._free = slots

    @property
    def needy(self) -> bool:
        """Whether a process is free."""
        return self._free.free > 0

    def ask(self) -> Ask:
        """As many as there are free processes."""
        self._free.seen()
        return Ask(self._free.free)

    def hand_over(self, ask: Ask, attempts: Sequence[Attempt]) -> None:
        """Start what the store gave."""
        del ask
        self.slots.give(attempts)


class Rooms:
    """All rooms of a node, and the attempts in them."""

    def __init__(self, rooms: Sequence[Room], attempts: Attempts) -> None:
        self._rooms = tuple(rooms)
        self.attempts = attempts

    @property
    def open(self) -> Sequence[Room]:
        """The rooms that have tasks; the first one in any case."""
        rooms = self._rooms
        if len(rooms) == 1:
            return rooms
        return [room for room in rooms if room.tasks] or rooms[:1]

    @property
    def count(self) -> int:
        """How many attempts the node may run at once."""
        return sum(room.slots.count for room in self.open)

    @property
    def busy(self) -> int:
        """How many slots run an attempt."""
        return sum(room.slots.busy for room in self._rooms)

    @property
    def waiting(self) -> int:
        """How many attempts wait to be started."""
        return sum(room.slots.waiting for room in self._rooms)

    @property
    def runs(self) -> dict[Hold, Run]:
        """The runs under way, by their holds."""
        return self.attempts.runs

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits to run."""
        return not self.attempts.running and not self.waiting

    @property
    def unended(self) -> tuple[Hold, ...]:
        """The holds of all attempts that have not ended: under way, or waiting to start."""
        waiting = [hold for room in self._rooms for hold in room.slots.holds]
        return (*self.attempts.runs, *waiting)

    @property
    def holds(self) -> tuple[Hold, ...]:
        """All holds that this node knows of: those, and what is still to settle."""
        return (*self.unended, *(settled.hold for settled in self.attempts.settled))

    async def run(self) -> None:
        """Run attempts in all rooms, for ever."""
        async with asyncio.TaskGroup() as group:
            for room in self._rooms:
                group.create_task(room.slots.run(), name="drumbeat-slots")

    def give_back_waiting(self, reason: str, queue: str | None = None) -> None:
        """Give back what has not started, of one queue or of all."""
        for room in self._rooms:
            for attempt in room.slots.take_out(lambda each: queue in (None, each.spec.queue)):
                self.attempts.settle(attempt, GivenBack(reason))

    def interrupt(self, hold: Hold, ending: Ending, grace: float) -> None:
        """End an attempt early. One that has not started does not start.

        One that is being ended already is ended sooner, if the grace is over sooner than that.
        """
        run = self.runs.get(hold)
        if run is not None:
            if run.would_end_sooner(grace):
                run.interrupt(ending, grace)
            return
        for room in self._rooms:
            for attempt in room.slots.take_out(lambda each: each.hold == hold):
                self.attempts.settle(attempt, ending)


def _any_is_last(attempts: Sequence[Attempt]) -> bool:
    for attempt in attempts:  # noqa: SIM110 - twice as fast as any()
        if attempt.number > attempt.spec.retry.max_retries:
            return True
    return False
