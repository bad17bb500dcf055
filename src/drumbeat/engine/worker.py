"""The worker: takes jobs for its slots, and settles what they have ended.

Settling the last batch and claiming the next is one step in the store. There is no batch size:
whatever has ended by the time the store is free goes along, and a lone job waits for nobody. While
the store is asked, the slots go on with what waits for them. As long as they have plenty, the store
is left alone until half of it has started, or until an ending has gone untold for a moment. While
they work through a backlog, a store that can do two things at once is told of endings by the
`Teller`, and this only claims.

How much may wait for the slots, `rules.prefetching` decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from drumbeat.engine.bus import Bus
from drumbeat.engine.listener import Listener, WorkerSettings
from drumbeat.engine.registry import Registry
from drumbeat.engine.run import CANCEL_GRACE
from drumbeat.engine.service import Service
from drumbeat.engine.slots import Slots
from drumbeat.engine.teller import LINGER, Teller
from drumbeat.model.ending import GivenBack
from drumbeat.model.events import JobConflicted, TaskUnknown
from drumbeat.model.job import (
    LEADER_QUEUE,
    Attempt,
    Change,
    Hold,
    Settlement,
    Taken,
    Wanted,
)
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import JobStore
from drumbeat.rules.prefetching import Answer, Ask, after, allowance_at_start, answered, ask_for

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
        slots: Slots,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._settings = settings
        self._jobs = jobs
        self._registry = registry
        self._slots = slots
        self._allowance = allowance_at_start(slots.count)
        self._taking = True
        self._stopped_because = ""
        self._tend_at = 0.0
        self._unknown: frozenset[str] = frozenset()
        self.leads: Callable[[], bool] = lambda: False
        """Whether this node may take the leader's own jobs."""
        self.in_touch: Callable[[], bool] = lambda: True
        """Whether the store hears this node's heartbeats: it gives a silent node's jobs away."""
        self._listener = Listener(settings, queue, self.wake, runtime, bus)
        self._teller = Teller(jobs, slots, runtime, bus)
        slots.on_change = self.wake

    @property
    def taking(self) -> bool:
        """Whether it takes new work."""
        return self._taking

    async def run(self) -> None:
        """Take, run and settle, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._slots.run(), name="drumbeat-slots")
            group.create_task(self._listener.run(), name="drumbeat-tickets")
            group.create_task(self._teller.run(), name="drumbeat-teller")
            await super().run()

    async def once(self) -> float | None:
        """Settle what has ended and claim what fits; return how long to wait for a hint."""
        await self._tend()
        if self._taking and self._slots.have_plenty:
            pause = self._linger()
            if pause > 0:
                return pause
        in_touch = self.in_touch()
        ask = self._ask() if self._taking and in_touch and self._queues() else NOTHING
        settled = [] if self._are_told_of_beside(ask) else self._teller.take_up()
        if not settled and not ask.total:
            if self._slots.waiting:
                return self._linger()
            return self._until_tending(self._settings.poll if in_touch else OUT_OF_TOUCH_PAUSE)
        try:
            taken = await self._take(ask, settled)
        except BaseException:
            self._teller.put_back(settled)
            self._tend_at = 0.0  # which finds claims that we did not hear of
            raise
        self._tell(settled, taken)
        self._hand_over(ask, taken)
        if self._slots.waiting and len(taken.attempts) == ask.total:  # there may be more
            return max(0.0, self._linger())
        return self._until_tending(self._pause(taken))

    def stop_taking(self, reason: str) -> None:
        """Take no more; give back what has not started, and ask what runs to end."""
        self._taking = False
        self._stopped_because = reason
        self._slots.give_back_waiting(reason)
        for run in self._slots.runs.values():
            run.warn(reason)
        self.wake()

    def interrupt_all(self, reason: str) -> None:
        """End what still runs, and give it back."""
        for run in tuple(self._slots.runs.values()):
            run.interrupt(GivenBack(reason), grace=0.0)

    def interrupt_leader_jobs(self, reason: str) -> None:
        """This node no longer leads: the jobs that only a leader may run go back."""
        self._slots.give_back_waiting(reason, LEADER_QUEUE)
        for run in tuple(self._slots.runs.values()):
            if run.attempt.spec.queue == LEADER_QUEUE:
                run.interrupt(GivenBack(reason), grace=CANCEL_GRACE)

    async def flush(self) -> None:
        """Tell the store of every ending that it does not know yet, and keep no claim."""
        while self._slots.settled:
            settled = self._teller.take_up()
            self._tell(settled, await self._take(NOTHING, settled))
        await self._give_back_but(frozenset())

    def _linger(self) -> float:
        """How long the store is left alone while the slots have plenty; they tell when they do not.

        Hints that come meanwhile are not forgotten: the store is looked at in any case.
        """
        self._slots.tell_when_low()
        return LINGER if self._teller.beside else self._teller.until_due()

    def _are_told_of_beside(self, ask: Ask) -> bool:
        """Whether the endings are the teller's: while there is a backlog that goes quickly."""
        teller, before = self._teller, self._teller.beside
        teller.beside = self._settings.writers > 1 and ask.total > 0 and self._allowance.ahead > 0
        if teller.beside and not before:
            teller.wake()
        return teller.beside

    def _ask(self) -> Ask:
        slots = self._slots
        self._allowance = after(self._allowance, slots.seen())
        return ask_for(self._allowance, slots.busy, slots.waiting)

    def _hand_over(self, ask: Ask, taken: Taken) -> None:
        slots, attempts = self._slots, taken.attempts
        answer = Answer(len(attempts), slots.waiting == 0, _any_is_last(attempts))
        self._allowance = answered(self._allowance, ask, answer)
        slots.give(attempts)
        if not self._taking:  # any more, since it asked
            slots.give_back_waiting(self._stopped_because)
        elif not self.in_touch():  # the answer lay around while this node slept
            slots.give_back_waiting(OLD_ANSWER)

    def _queues(self) -> tuple[str, ...]:
        queues = self._settings.queues
        return (*queues, LEADER_QUEUE) if self.leads() else queues

    async def _take(self, ask: Ask, settled: Sequence[Settlement]) -> Taken:
        wanted = Wanted(self._queues(), self._registry.runnable, ask.limit, ask.ahead)
        return await self._jobs.take(wanted, self._settings.node, settled)

    def _tell(self, settled: Sequence[Settlement], taken: Taken) -> None:
        self._teller.heard(settled, taken.verdicts)
        for job_id in taken.cancelled:
            self._bus.emit(JobConflicted(job_id))

    def _pause(self, taken: Taken) -> float | None:
        if self._slots.settled:
            return 0.0
        if taken.try_at is None:
            return self._settings.poll
        wait = (taken.try_at - self._runtime.clock.now()).total_seconds()
        if wait <= 0:  # it has come by our clock, and not by the store's
            wait = AGAIN
        return wait if self._settings.poll is None else min(wait, self._settings.poll)

    def _until_tending(self, pause: float | None) -> float:
        wait = max(0.0, self._tend_at - self._runtime.clock.elapsed())
        return wait if pause is None else min(pause, wait)

    async def _tend(self) -> None:
        now = self._runtime.clock.elapsed()
        if now < self._tend_at:
            return
        told = (settlement.hold for settlement in self._teller.under_way)
        await self._give_back_but(frozenset((*self._slots.holds, *told)))
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


def _any_is_last(attempts: Sequence[Attempt]) -> bool:
    for attempt in attempts:  # noqa: SIM110 - twice as fast as any()
        if attempt.number > attempt.spec.retry.max_retries:
            return True
    return False
