"""The worker: takes jobs for its slots, and settles what they have ended.

Settling the last batch and claiming the next is one step in the store. There is no batch size:
whatever has ended by the time the store is free goes along, and a lone job waits for nobody. While
the store is asked, the slots go on with what waits for them. As long as they have plenty, the store
is left alone until half of it has started, or until an ending has gone untold for a moment.

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
from drumbeat.model.ending import GivenBack
from drumbeat.model.events import AttemptSuperseded, JobConflicted, JobSettled, TaskUnknown
from drumbeat.model.job import (
    LEADER_QUEUE,
    Attempt,
    Change,
    Hold,
    Settled,
    Settlement,
    Superseded,
    Taken,
    Wanted,
)
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import JobStore
from drumbeat.rules.prefetching import Answer, Ask, after, allowance_at_start, answered, ask_for

TEND_EVERY = 30.0
AGAIN = 0.05
LINGER = 0.005
"""Seconds that an ending goes untold at most while the slots have plenty to do."""
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
        self._unsure: set[Hold] = set()
        """Holds that were settled perhaps: refusing them now may only mean that they were."""
        self.leads: Callable[[], bool] = lambda: False
        """Whether this node may take the leader's own jobs."""
        self.in_touch: Callable[[], bool] = lambda: True
        """Whether the store hears this node's heartbeats: it gives a silent node's jobs away."""
        self._listener = Listener(settings, queue, self.wake, runtime, bus)
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
            await super().run()

    async def once(self) -> float | None:
        """Settle what has ended and claim what fits; return how long to wait for a hint."""
        await self._tend()
        if self._taking and self._slots.have_plenty:
            pause = self._linger()
            if pause > 0:
                return pause
        settled, self._slots.settled = self._slots.settled, []
        in_touch = self.in_touch()
        ask = self._ask() if self._taking and in_touch else NOTHING
        if not settled and not ask.total:
            if self._slots.waiting:
                return self._linger()
            return self._until_tending(self._settings.poll if in_touch else OUT_OF_TOUCH_PAUSE)
        try:
            taken = await self._take(ask, settled)
        except BaseException:
            # Perhaps it was done and perhaps not. Settling again is harmless, since a hold that
            # was settled is over; claims that we did not hear of are found by tending.
            self._slots.settled[:0] = settled
            self._unsure.update(settlement.hold for settlement in settled)
            self._tend_at = 0.0
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
            settled, self._slots.settled = self._slots.settled, []
            self._tell(settled, await self._take(NOTHING, settled))
        await self._give_back_but(frozenset())

    def _linger(self) -> float:
        """How long the store is left alone while the slots have plenty; they tell when they do not.

        Hints that come meanwhile are not forgotten: the store is looked at in any case.
        """
        self._slots.tell_when_low()
        if not self._slots.settled:
            return LINGER
        return LINGER - (self._runtime.clock.elapsed() - self._slots.settled_since)

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

    async def _take(self, ask: Ask, settled: Sequence[Settlement]) -> Taken:
        queues = self._settings.queues
        if self.leads():
            queues = (*queues, LEADER_QUEUE)
        wanted = Wanted(queues, self._registry.names, ask.limit, ask.ahead)
        return await self._jobs.take(wanted, self._settings.node, settled)

    def _tell(self, settled: Sequence[Settlement], taken: Taken) -> None:
        hears = self._bus.hears(JobSettled)
        for settlement, verdict in zip(settled, taken.verdicts, strict=True):
            match verdict:
                case Settled():
                    if hears:
                        self._bus.emit(JobSettled(settlement, verdict.status))
                case Superseded():
                    if verdict.hold not in self._unsure:
                        self._bus.emit(AttemptSuperseded(verdict.hold))
        if self._unsure:
            self._unsure.difference_update(verdict.hold for verdict in taken.verdicts)
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
        await self._give_back_but(frozenset(self._slots.holds))
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
            await self._jobs.unknown_tasks(self._settings.queues, self._registry.names, 20)
        )
        for task in sorted(unknown - self._unknown):
            self._bus.emit(TaskUnknown(task))
        self._unknown = unknown


def _any_is_last(attempts: Sequence[Attempt]) -> bool:
    for attempt in attempts:  # noqa: SIM110 - twice as fast as any()
        if attempt.number > attempt.spec.retry.max_retries:
            return True
    return False
