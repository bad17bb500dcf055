"""The worker: claims jobs for its slots, and settles what has ended.

Settling the last batch and claiming the next is one step in the store. There is no batch size:
whatever has ended by the time the store is free is settled with it, and a lone job waits for
nobody. While the store works, the slots continue with what waits for them. As long as they have
plenty, the store is left alone until half of it has started, or until an ending has waited for a
moment. During a backlog, a store that can do two things at once gets the endings from the
`Settler`, and the worker only claims.

`rules.prefetch_limit` decides how much may wait for the slots. A node with several pools asks the
store for each that can start more; what has ended is settled with the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from drumbeat.engine.executing.run import CANCEL_GRACE
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.working.node_state import NodeState
from drumbeat.engine.working.pools import ExecutionPool, ExecutionPools
from drumbeat.engine.working.queue_listener import QueueListener, WorkerSettings
from drumbeat.engine.working.settler import LINGER, Settler
from drumbeat.model.events import JobConflicted, TaskUnknown
from drumbeat.model.jobs.ending import GivenBack
from drumbeat.model.jobs.job import (
    LEADER_QUEUE,
    Change,
    Hold,
    Settlement,
    Taken,
    Wanted,
)
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import JobStore
from drumbeat.rules.jobs.prefetch_limit import Ask

TEND_EVERY = 30.0
AGAIN = 0.05
NOTHING = Ask(0)
OUT_OF_TOUCH_PAUSE = 1.0
OLD_ANSWER = "by the time the claim was answered, another node may have the job"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerParts:
    """What a worker takes jobs from, and for which pools."""

    settings: WorkerSettings
    jobs: JobStore
    queue: Queue
    registry: TaskRegistry
    pools: ExecutionPools
    state: NodeState


class Worker(Service):
    """Keeps the slots of a node busy."""

    name = "worker"

    def __init__(self, parts: WorkerParts, context: ServiceContext) -> None:
        super().__init__(context)
        self._settings = parts.settings
        self._jobs = parts.jobs
        self._registry = parts.registry
        self._state = parts.state
        self._pools = parts.pools
        self._attempts = attempts = parts.pools.attempts
        self._wake_up = attempts.changed
        self._taking = True
        self._stopped_because = ""
        self._tend_at = 0.0
        self._unknown: frozenset[str] = frozenset()
        self._listener = QueueListener(parts.settings, parts.queue, self.wake, context)
        self._settler = Settler(parts.jobs, attempts, context)

    @property
    def taking(self) -> bool:
        return self._taking

    def wake(self) -> None:
        """End the pause: there may be jobs for any pool."""
        for pool in self._pools.open:
            pool.ask_at = 0.0
        super().wake()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pools.run(), name="drumbeat-slots")
            group.create_task(self._listener.run(), name="drumbeat-tickets")
            group.create_task(self._settler.run(), name="drumbeat-settler")
            await super().run()

    async def once(self) -> float | None:
        """Settle what has ended and claim what fits; return how long to wait for a hint."""
        await self._tend()
        pools = self._pools.open
        needy = self._needy(pools)
        if self._taking and not needy and any(pool.has_plenty for pool in pools):
            pause = self._linger(pools)
            if pause > 0:
                return pause
            needy = pools  # the store is asked anyway, since endings have waited long enough
        asks = self._asks(needy)
        settled = [] if self._settles_concurrently(asks, pools) else self._settler.take_up()
        if settled and not asks:
            asks = [(pools[0], NOTHING)]
        if not asks:
            if any(pool.lasts for pool in pools):
                return self._linger(pools)
            self._attempts.quiet = False
            return self._until_tending(self._until_due(pools, self._idle_pause))
        pause = await self._claim(*asks[0], settled)
        for pool, ask in asks[1:]:
            if self._may_take:  # still, after the answer for the pool before
                pause = min(pause, await self._claim(pool, ask, ()))
        return self._until_tending(self._until_due(pools, pause))

    def stop_taking(self, reason: str) -> None:
        """Take no more; give back what has not started, and ask what runs to end."""
        self._taking = False
        self._stopped_because = reason
        self._pools.give_back_waiting(reason)
        for run in self._pools.runs.values():
            run.ask_to_give_back(reason)
        self.wake()

    def interrupt_all(self, reason: str) -> None:
        """End what still runs, and give it back."""
        for run in tuple(self._pools.runs.values()):
            run.interrupt(GivenBack(reason), grace=0.0)

    def interrupt_leader_jobs(self, reason: str) -> None:
        """Give back the jobs that only a leader may run: this node no longer leads."""
        self._pools.give_back_waiting(reason, LEADER_QUEUE)
        for run in tuple(self._pools.runs.values()):
            if run.attempt.spec.queue == LEADER_QUEUE:
                run.interrupt(GivenBack(reason), grace=CANCEL_GRACE)

    def warn_tick_jobs(self, reason: str) -> None:
        """Tell the handlers of ticks that they should end, and leave it to them.

        In the in-process mode no other node has the job: giving it back would run it here again.
        """
        for run in tuple(self._pools.runs.values()):
            if run.attempt.spec.tick_at is not None:
                run.warn(reason)

    async def flush(self) -> None:
        """Settle every ending that the store does not know yet, and give up every claim."""
        while self._attempts.settled:
            settled = self._settler.take_up()
            self._tell(settled, await self._take(self._pools.open[0], NOTHING, settled))
        await self._give_back_but(frozenset())

    @property
    def _may_take(self) -> bool:
        return self._taking and self._state.may_hold_jobs and bool(self._queues())

    @property
    def _idle_pause(self) -> float:
        if not self._state.may_hold_jobs:
            return OUT_OF_TOUCH_PAUSE
        return inf if self._settings.poll is None else self._settings.poll

    def _needy(self, pools: Sequence[ExecutionPool]) -> Sequence[ExecutionPool]:
        """The pools to claim for.

        With several pools, one for which the store had nothing is not asked for again until a
        hint comes, or an attempt of its own ends: the others may be busy with a backlog.
        """
        if len(pools) == 1:
            return [pool for pool in pools if pool.needy]
        now = self._runtime.clock.elapsed()
        return [
            pool
            for pool in pools
            if pool.needy and (pool.ask_at <= now or pool.slots.have_ended_some)
        ]

    def _asks(self, pools: Sequence[ExecutionPool]) -> list[tuple[ExecutionPool, Ask]]:
        if not self._may_take:
            return []
        return [(pool, ask) for pool in pools if (ask := pool.ask()).total]

    def _linger(self, pools: Sequence[ExecutionPool]) -> float:
        """How long to leave the store alone while the slots have plenty; they may wake the worker.

        Hints that come meanwhile are not lost: the store is asked in any case.
        """
        for pool in pools:
            if pool.lasts:
                pool.slots.tell_when_low()
        return LINGER if self._settler.concurrent else self._settler.until_due()

    def _settles_concurrently(
        self, asks: Sequence[tuple[ExecutionPool, Ask]], pools: Sequence[ExecutionPool]
    ) -> bool:
        """Whether the endings are the settler's: while there is a backlog that goes quickly."""
        settler, before = self._settler, self._settler.concurrent
        backlog = any(pool.ahead > 0 for pool, _ in asks) or (
            before and any(pool.has_plenty for pool in pools)
        )
        settler.concurrent = self._settings.writers > 1 and backlog
        if settler.concurrent and not before:
            settler.wake()
        return settler.concurrent

    async def _claim(self, pool: ExecutionPool, ask: Ask, settled: Sequence[Settlement]) -> float:
        """Settle, claim for one pool, and return how long this pool can wait."""
        try:
            taken = await self._take(pool, ask, settled)
        except BaseException:
            self._settler.put_back(settled)
            self._tend_at = 0.0  # which finds claims whose answer got lost
            raise
        self._tell(settled, taken)
        self._hand_over(pool, ask, taken)
        given_all = len(taken.attempts) == ask.total
        if pool.lasts and given_all:  # there may be more
            return max(0.0, self._linger([pool]))
        wait = self._until_next_try(taken)
        pool.ask_at = 0.0 if given_all else self._runtime.clock.elapsed() + wait
        return 0.0 if self._attempts.settled else wait

    def _hand_over(self, pool: ExecutionPool, ask: Ask, taken: Taken) -> None:
        pool.hand_over(ask, taken.attempts)
        if not self._taking:  # any more, since it asked
            self._pools.give_back_waiting(self._stopped_because)
        elif not self._state.may_hold_jobs:  # the answer came before a pause of this node
            self._pools.give_back_waiting(OLD_ANSWER)

    def _queues(self) -> tuple[str, ...]:
        queues = self._settings.queues
        return (*queues, LEADER_QUEUE) if self._state.leads else queues

    async def _take(self, pool: ExecutionPool, ask: Ask, settled: Sequence[Settlement]) -> Taken:
        wanted = Wanted(self._queues(), pool.tasks, ask.limit, ask.ahead)
        return await self._jobs.take(wanted, self._settings.node, settled)

    def _tell(self, settled: Sequence[Settlement], taken: Taken) -> None:
        self._settler.heard(settled, taken.verdicts)
        for job_id in taken.cancelled:
            self._bus.emit(JobConflicted(job_id))

    def _until_next_try(self, taken: Taken) -> float:
        poll = inf if self._settings.poll is None else self._settings.poll
        if taken.try_at is None:
            return poll
        wait = (taken.try_at - self._runtime.clock.now()).total_seconds()
        if wait <= 0:  # it is due by our clock, but not by the store's
            wait = AGAIN
        return min(wait, poll)

    def _until_due(self, pools: Sequence[ExecutionPool], pause: float) -> float:
        """The pause, or less if a pool that was not asked for this time is due earlier."""
        if len(pools) == 1:
            return pause
        now = self._runtime.clock.elapsed()
        return min(pause, *(pool.ask_at - now for pool in pools if pool.ask_at > now), inf)

    def _until_tending(self, pause: float) -> float:
        return min(pause, max(0.0, self._tend_at - self._runtime.clock.elapsed()))

    async def _tend(self) -> None:
        now = self._runtime.clock.elapsed()
        if now < self._tend_at:
            return
        told = (settlement.hold for settlement in self._settler.under_way)
        await self._give_back_but(frozenset((*self._pools.holds, *told)))
        await self._report_unknown_tasks()
        self._tend_at = now + TEND_EVERY

    async def _give_back_but(self, known: frozenset[Hold]) -> None:
        """Give back claims whose answer got lost: the store has them, this node does not."""
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
