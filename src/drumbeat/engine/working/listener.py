"""Listeners: wake the worker when there may be jobs for it. The store decides what is ready.

Without a queue the store hints every worker at each change, and each looks at the store. A queue
that carries tickets wakes only as many workers as there are jobs: the `TicketListener` receives no
more tickets than its worker has room for, and acknowledges them when the worker has asked the store
since. While the worker is full, which it is during a backlog, no ticket is received: the worker
goes on to claim without.

Tickets get lost, and some jobs never had one: those that were given back or freed by a limit, of a
queue that was resumed, or submitted by a program without this queue. So the store's hints still
count. They end the worker's pause too, but only after `HINT_PAUSE`, and not if the worker has asked
the store since. While the queue does not answer, they end it at once.

Tickets of jobs that others have claimed are worthless, and there are many of them after a backlog.
So after each claim that found nothing, twice as many tickets are received at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.engine.working.worker_parts import WorkerParts
from drumbeat.model.jobs.job import LEADER_QUEUE, Ticket
from drumbeat.model.part import Part
from drumbeat.ports.clock import Alarm
from drumbeat.ports.store import Topic

MOST_TICKETS = 1_000
"""How many tickets are received at once."""
HINT_PAUSE = 0.1
"""Seconds after which a hint of the store wakes the worker, if no ticket does before."""


class Claimer(Protocol):
    """What a listener knows of its worker."""

    @property
    def passes(self) -> int:
        """How many passes have begun."""
        ...

    @property
    def room(self) -> int:
        """How many attempts it could start now."""
        ...

    @property
    def served(self) -> tuple[str, ...]:
        """The queues to take jobs from now."""
        ...

    def wake(self) -> None: ...


class Pass(NamedTuple):
    """A pass of the worker that has ended."""

    number: int
    given: int | None
    """How many attempts the store gave; None: it was not asked."""


class Listener(Service):
    """Wakes the worker."""

    @abstractmethod
    def passed(self, ended: Pass) -> None:
        """The worker has ended a pass."""


def listener_for(parts: WorkerParts, worker: Claimer, context: ServiceContext) -> Listener:
    """The listener for a queue that carries tickets, or for one that does not."""
    kind = TicketListener if parts.tickets.carries else HintListener
    return kind(parts, worker, context)


class HintListener(Listener):
    """Wakes the worker at each hint of the store."""

    name = "queue-listener"

    def __init__(self, parts: WorkerParts, worker: Claimer, context: ServiceContext) -> None:
        super().__init__(context)
        self._node = parts.node
        self._queues = (*parts.queues, LEADER_QUEUE)
        self._hints = parts.tickets
        self._worker = worker

    async def once(self) -> float | None:
        """Wait for a hint, then wake the worker."""
        await self._hints.receive(self._queues, self._node, MOST_TICKETS)
        self._worker.wake()
        return 0.0

    def passed(self, ended: Pass) -> None:
        """Hints come whatever the worker does."""


class TicketListener(Listener):
    """Receives tickets for the worker, as many as it has room for."""

    name = "ticket-listener"
    backend = Part.QUEUE

    def __init__(self, parts: WorkerParts, worker: Claimer, context: ServiceContext) -> None:
        super().__init__(context)
        self._node = parts.node
        self._tickets = parts.tickets
        self._store = parts.store
        self._worker = worker
        self._done: Sequence[Ticket] = ()
        """Tickets that have served their purpose, to be acknowledged with the next call."""
        self._fruitless = 0
        """Claims in a row that found nothing although tickets had come."""
        self._last: Pass = Pass(0, None)
        self._pass_ended = WakeUp(context.runtime.clock)
        self._hint_alarm: Alarm | None = None
        self._hinted_in = 0
        """The pass during which, or after which, the hint came."""

    async def run(self) -> None:
        stop = self._store.subscribe(Topic.JOBS, self._hinted)
        try:
            await super().run()
        finally:
            stop()
            self._forget_hint()

    async def once(self) -> float | None:
        """Receive tickets, wake the worker, and wait until it has asked the store."""
        room, queues = self._worker.room, self._worker.served
        done, self._done = self._done, ()
        if not room or not queues:
            await self._tickets.acknowledge(done, self._node)
            return None  # until a pass leaves room
        limit = min(MOST_TICKETS, room << min(self._fruitless, 10))
        tickets = await self._tickets.receive(queues, self._node, limit, done)
        begun = self._worker.passes
        self._worker.wake()
        if tickets:
            await self._pass_after(begun)
            await self._use(tickets)
        return 0.0

    def passed(self, ended: Pass) -> None:
        self._last = ended
        self._pass_ended.set()
        if ended.given is not None and ended.number > self._hinted_in:
            self._forget_hint()
        if self._worker.room:
            self.wake()

    async def _pass_after(self, begun: int) -> None:
        """Return when a pass that began later has ended: it sees what the tickets stand for."""
        while self._last.number <= begun:
            await self._pass_ended.wait()

    async def _use(self, tickets: Sequence[Ticket]) -> None:
        """The tickets are used up; hand on those that a full worker could not use."""
        given = self._last.given
        if not self._worker.room and (given or 0) < len(tickets):
            await self._tickets.publish(tickets[given or 0 :])
        self._fruitless = 0 if given else self._fruitless + 1
        self._done = tickets

    def _hinted(self) -> None:
        """The store has changed: jobs may be ready that have no ticket."""
        if self._failures:
            self._worker.wake()
        elif self._hint_alarm is None:
            self._hinted_in = self._worker.passes
            self._hint_alarm = self._runtime.clock.call_later(HINT_PAUSE, self._ring)

    def _ring(self) -> None:
        self._hint_alarm = None
        self._worker.wake()

    def _forget_hint(self) -> None:
        alarm, self._hint_alarm = self._hint_alarm, None
        if alarm is not None:
            alarm.cancel()
