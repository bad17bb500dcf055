"""The worker: takes jobs for its slots, and settles what they have ended.

Settling the last batch and claiming the next is one step in the store. There is no batch size:
whatever has ended by the time the store is free goes along, and a lone job waits for nobody. While
the store is asked, the slots go on with what waits for them. As long as they have plenty, the store
is left alone until half of it has started, or until an ending has gone untold for a moment. While
they work through a backlog, a store that can do two things at once is told of endings by the
`Teller`, and this only claims.

How much may wait for the slots, `rules.prefetching` decides. A node with several rooms asks the
store for each that can start more; what has ended is settled with the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from math import inf

from drumbeat.engine.bus import Bus
from drumbeat.engine.listener import Listener, WorkerSettings
from drumbeat.engine.registry import Registry
from drumbeat.engine.rooms import Room, Rooms
from drumbeat.engine.run import CANCEL_GRACE
from drumbeat.engine.service import Service
from drumbeat.engine.teller import LINGER, Teller
from drumbeat.model.ending import GivenBack
from drumbeat.model.events import JobConflicted, TaskUnknown
from drumbeat.model.job import (
    LEADER_QUEUE,
    Change,
    Hold,
    Settlement,
    Taken,
    Wanted,
)
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import JobStore
from drumbeat.rules.prefetching import Ask

TEND_EVERY = 30.0
AGAIN = 0.05
NOTHING = Ask(0)
OUT_OF_TOUCH_PAUSE = 1.0
OLD_ANSWER = "by the time the claim was heard of, another node may have the job"


class Worker(Service):
    """Keeps the slots of a node busy."""

    name = "worker"

    def __init__(
        self,
        settings: WorkerSettings,
        jobs: JobStore,
        queue: Queue,
        registry: Registry,
        rooms: Rooms,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._settings = settings
        self._jobs = jobs
        self._registry = registry
        self._rooms = rooms
        self._attempts = rooms.attempts
        self._taking = True
        self._stopped_because = ""
        self._tend_at = 0.0
        self._unknown: frozenset[str] = frozenset()
        self.leads: Callable[[], bool] = lambda: False
        """Whether this node may take the leader's own jobs."""
        self.in_touch: Callable[[], bool] = lambda: True
        """Whether the store hears this node's heartbeats: it gives a silent node's jobs away."""
        self._listener = Listener(settings, queue, self.wake, runtime, bus)
        self._teller = Teller(jobs, rooms.attempts, runtime, bus)
        rooms.attempts.on_change = super().wake
        rooms.attempts.in_touch = self._is_in_touch

    @property
    def taking(self) -> bool:
        """Whether it takes new work."""
        return self._taking

    def wake(self) -> None:
        """End the pause: there may be jobs for any room."""
        for room in self._rooms.open:
            room.ask_at = 0.0
        super().wake()

    async def run(self) -> None:
        """Take, run and settle, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._rooms.run(), name="drumbeat-slots")
            group.create_task(self._listener.run(), name="drumbeat-tickets")
            group.create_task(self._teller.run(), name="drumbeat-teller")
            await super().run()

    async def once(self) -> float | None:
        """Settle what has ended and claim what fits; return how long to wait for a hint."""
        await self._tend()
        rooms = self._rooms.open
        needy = self._needy(rooms)
        if self._taking and not needy and any(room.has_plenty for room in rooms):
            pause = self._linger(rooms)
            if pause > 0:
                return pause
            needy = rooms  # the store is asked anyway, since endings have waited long enough
        asks = self._asks(needy)
        settled = [] if self._are_told_of_beside(asks, rooms) else self._teller.take_up()
        if settled and not asks:
            asks = [(rooms[0], NOTHING)]
        if not asks:
            if any(room.lasts for room in rooms):
                return self._linger(rooms)
            self._attempts.quiet = False
            return self._until_tending(self._until_due(rooms, self._idle_pause))
        pause = await self._claim(*asks[0], settled)
        for room, ask in asks[1:]:
            if self._may_take:  # still, after the answer for the room before
                pause = min(pause, await self._claim(room, ask, ()))
        return self._until_tending(self._until_due(rooms, pause))

    def stop_taking(self, reason: str) -> None:
        """Take no more; give back what has not started, and ask what runs to end."""
        self._taking = False
        self._stopped_because = reason
        self._rooms.give_back_waiting(reason)
        for run in self._rooms.runs.values():
            run.warn(reason)
        self.wake()

    def interrupt_all(self, reason: str) -> None:
        """End what still runs, and give it back."""
        for run in tuple(self._rooms.runs.values()):
            run.interrupt(GivenBack(reason), grace=0.0)

    def interrupt_leader_jobs(self, reason: str) -> None:
        """This node no longer leads: the jobs that only a leader may run go back."""
        self._rooms.give_back_waiting(reason, LEADER_QUEUE)
        for run in tuple(self._rooms.runs.values()):
            if run.attempt.spec.queue == LEADER_QUEUE:
                run.interrupt(GivenBack(reason), grace=CANCEL_GRACE)

    def warn_tick_jobs(self, reason: str) -> None:
        """Tell the handlers of ticks that they should end, and leave it to them.

        In the in-process mode nobody else has the job: to give it back would run it here again.
        """
        for run in tuple(self._rooms.runs.values()):
            if run.attempt.spec.tick_at is not None:
                run.warn(reason)

    async def flush(self) -> None:
        """Tell the store of every ending that it does not know yet, and keep no claim."""
        while self._attempts.settled:
            settled = self._teller.take_up()
            self._tell(settled, await self._take(self._rooms.open[0], NOTHING, settled))
        await self._give_back_but(frozenset())

    def _is_in_touch(self) -> bool:
        return self.in_touch()  # as it is at that time: the node replaces it when it starts

    @property
    def _may_take(self) -> bool:
        return self._taking and self.in_touch() and bool(self._queues())

    @property
    def _idle_pause(self) -> float:
        if not self.in_touch():
            return OUT_OF_TOUCH_PAUSE
        return inf if self._settings.poll is None else self._settings.poll

    def _needy(self, rooms: Sequence[Room]) -> Sequence[Room]:
        """The rooms to ask the store for.

        With several rooms, one for which the store had nothing is not asked for again until a
        hint comes, or an attempt of its own ends: the others may be busy with a backlog.
        """
        if len(rooms) == 1:
            return [room for room in rooms if room.needy]
        now = self._runtime.clock.elapsed()
        return [
            room
            for room in rooms
            if room.needy and (room.ask_at <= now or room.slots.have_ended_some)
        ]

    def _asks(self, rooms: Sequence[Room]) -> list[tuple[Room, Ask]]:
        if not self._may_take:
            return []
        return [(room, ask) for room in rooms if (ask := room.ask()).total]

    def _linger(self, rooms: Sequence[Room]) -> float:
        """How long the store is left alone while the slots have plenty; they tell when they do not.

        Hints that come meanwhile are not forgotten: the store is looked at in any case.
        """
        for room in rooms:
            if room.lasts:
                room.slots.tell_when_low()
        return LINGER if self._teller.beside else self._teller.until_due()

    def _are_told_of_beside(self, asks: Sequence[tuple[Room, Ask]], rooms: Sequence[Room]) -> bool:
        """Whether the endings are the teller's: while there is a backlog that goes quickly."""
        teller, before = self._teller, self._teller.beside
        backlog = any(room.ahead > 0 for room, _ in asks) or (
            before and any(room.has_plenty for room in rooms)
        )
        teller.beside = self._settings.writers > 1 and backlog
        if teller.beside and not before:
            teller.wake()
        return teller.beside

    async def _claim(self, room: Room, ask: Ask, settled: Sequence[Settlement]) -> float:
        """Settle, claim for one room, and return how long this room can wait."""
        try:
            taken = await self._take(room, ask, settled)
        except BaseException:
            self._teller.put_back(settled)
            self._tend_at = 0.0  # which finds claims that we did not hear of
            raise
        self._tell(settled, taken)
        self._hand_over(room, ask, taken)
        given_all = len(taken.attempts) == ask.total
        if room.lasts and given_all:  # there may be more
            return max(0.0, self._linger([room]))
        wait = self._until_next_try(taken)
        room.ask_at = 0.0 if given_all else self._runtime.clock.elapsed() + wait
        return 0.0 if self._attempts.settled else wait

    def _hand_over(self, room: Room, ask: Ask, taken: Taken) -> None:
        room.hand_over(ask, taken.attempts)
        if not self._taking:  # any more, since it asked
            self._rooms.give_back_waiting(self._stopped_because)
        elif not self.in_touch():  # the answer lay around while this node slept
            self._rooms.give_back_waiting(OLD_ANSWER)

    def _queues(self) -> tuple[str, ...]:
        queues = self._settings.queues
        return (*queues, LEADER_QUEUE) if self.leads() else queues

    async def _take(self, room: Room, ask: Ask, settled: Sequence[Settlement]) -> Taken:
        wanted = Wanted(self._queues(), room.tasks, ask.limit, ask.ahead)
        return await self._jobs.take(wanted, self._settings.node, settled)

    def _tell(self, settled: Sequence[Settlement], taken: Taken) -> None:
        self._teller.heard(settled, taken.verdicts)
        for job_id in taken.cancelled:
            self._bus.emit(JobConflicted(job_id))

    def _until_next_try(self, taken: Taken) -> float:
        poll = inf if self._settings.poll is None else self._settings.poll
        if taken.try_at is None:
            return poll
        wait = (taken.try_at - self._runtime.clock.now()).total_seconds()
        if wait <= 0:  # it has come by our clock, and not by the store's
            wait = AGAIN
        return min(wait, poll)

    def _until_due(self, rooms: Sequence[Room], pause: float) -> float:
        """The pause, or less if a room that was not asked for this time is due earlier."""
        if len(rooms) == 1:
            return pause
        now = self._runtime.clock.elapsed()
        return min(pause, *(room.ask_at - now for room in rooms if room.ask_at > now), inf)

    def _until_tending(self, pause: float) -> float:
        return min(pause, max(0.0, self._tend_at - self._runtime.clock.elapsed()))

    async def _tend(self) -> None:
        now = self._runtime.clock.elapsed()
        if now < self._tend_at:
            return
        told = (settlement.hold for settlement in self._teller.under_way)
        await self._give_back_but(frozenset((*self._rooms.holds, *told)))
        await self._report_unknown_tasks()
        self._tend_at = now + TEND_EVERY

    async def _give_back_but(self, known: frozenset[Hold]) -> None:
        """Give back claims whose answer never reached us: in the store ours, here unknown."""
        orphans = [
            Settlement(attempt.hold, Change.GIVE_BACK)
            for attempt in await self._jobs.held(self._settings.node)
            if attempt.hold not in known
        ]
        if orphans:
            await self._jobs.settle(orphans)

    async def _report_unknown_tasks(self) -> None:
        unknown = frozenset(
            await self._jobs.unknown_tasks(self._settings.queues, self._registry.runnable, 20)
        )
        for task in sorted(unknown - self._unknown):
            self._bus.emit(TaskUnknown(task))
        self._unknown = unknown
