"""The worker: claims jobs for its slots, and settles what has ended.

Settling the last batch and claiming the next is one step in the store. There is no batch size:
all endings that exist when the store is free are settled with it, and a lone job waits for nobody.
While the store works, the slots continue with what waits for them. While they have enough, the
store is left alone until half of it has started, or until an ending is due. During a backlog, a
store that can do two things at once gets the endings from the `Settler`, and the worker only
claims.

`rules.prefetch_limit` decides how much may wait for the slots. A node with several pools asks the
store for each that can start more; what has ended is settled with the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import inf
from typing import TypeAlias

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.working.listener import Pass, listener_for
from drumbeat.engine.working.pools import ExecutionPool
from drumbeat.engine.working.settler import SETTLE_WITHIN, Settler
from drumbeat.engine.working.worker_parts import WorkerParts
from drumbeat.model.events import JobConflicted, JobsExpired, TaskUnknown
from drumbeat.model.jobs.job import LEADER_QUEUE, Change, Hold, Settlement, Taken, Wanted
from drumbeat.rules.jobs.prefetch_limit import Ask

ORPHANS_EVERY = 30.0
"""Seconds between two searches for orphans: claims of this node whose answer was lost."""
AGAIN = 0.05
"""Seconds to the next claim when a job is due by our clock, but not by the store's."""
SILENT_PAUSE = 1.0
"""Seconds between two passes while the store does not hear this node's heartbeats."""
MOST_NAMED = 20
NOTHING = Ask(0)
OLD_ANSWER = "by the time the claim was answered, another node may have the job"

PoolAsk: TypeAlias = tuple[ExecutionPool, Ask]


class Worker(Service):
    """Keeps the slots of a node busy."""

    name = "worker"

    def __init__(self, parts: WorkerParts, context: ServiceContext) -> None:
        super().__init__(context)
        self._parts = parts
        self._jobs = parts.store.jobs
        self._state = parts.state
        self._pools = parts.pools
        self._attempts = parts.pools.attempts
        self._wake_up = self._attempts.changed
        self._poll = inf if parts.poll is None else parts.poll
        self._stopped_because: str | None = None
        self._find_orphans_at = 0.0
        self._unknown: frozenset[str] = frozenset()
        self._passes = 0
        self._given: int | None = None
        """How many attempts the present pass was given; None: it did not ask."""
        self._listener = listener_for(parts, self, context)
        self._settler = Settler(self._jobs, self._attempts, context)

    @property
    def passes(self) -> int:
        """How many passes have begun."""
        return self._passes

    @property
    def taking(self) -> bool:
        return self._stopped_because is None

    @property
    def served(self) -> tuple[str, ...]:
        """The queues to take jobs from now."""
        queues = self._parts.queues
        return (*queues, LEADER_QUEUE) if self._state.leads else queues

    @property
    def room(self) -> int:
        """How many attempts it could start now; 0 while it takes none."""
        if not self._may_claim:
            return 0
        return sum(pool.room for pool in self._pools.open)

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
        self._passes = number = self._passes + 1
        self._given = None
        pause = await self._settle_and_claim()
        self._listener.passed(Pass(number, self._given))
        return pause

    async def _settle_and_claim(self) -> float:
        await self._check_at_intervals()
        pools = self._pools.open
        asked = self._pools_to_ask(pools)
        if self.taking and not asked and any(pool.has_enough for pool in pools):
            pause = self._busy_pause(pools)
            if pause > 0:
                return pause
            asked = pools  # the store is asked anyway, since endings are due
        asks = self._asks(asked)
        settled = [] if self._settles_concurrently(asks, pools) else self._settler.take()
        if settled and not asks:
            asks = [(pools[0], NOTHING)]
        if not asks:
            if any(pool.has_waiting for pool in pools):
                return self._busy_pause(pools)
            self._attempts.quiet = False
            idle = self._poll if self._state.may_hold_jobs else SILENT_PAUSE
            return self._shortened(idle, pools)
        pause = await self._claim(*asks[0], settled)
        for pool, ask in asks[1:]:
            if self._may_claim:  # still, after the answer for the pool before
                pause = min(pause, await self._claim(pool, ask, ()))
        return self._shortened(pause, pools)

    def stop_taking(self, reason: str) -> None:
        """Take no more; give back what has not started, and ask what runs to end."""
        self._stopped_because = reason
        self._pools.give_back_waiting(reason)
        for run in self._attempts.runs.values():
            run.ask_to_give_back(reason)
        self.wake()

    async def flush(self) -> None:
        """Settle every ending that the store does not know yet, and give up every claim."""
        while self._attempts.settled:
            settled = self._settler.take()
            self._report(settled, await self._take(self._pools.open[0], NOTHING, settled))
        await self._give_back_orphans(frozenset())

    @property
    def _may_claim(self) -> bool:
        return self.taking and self._state.may_hold_jobs and bool(self.served)

    def _pools_to_ask(self, pools: Sequence[ExecutionPool]) -> Sequence[ExecutionPool]:
        """The pools to claim for.

        With several pools, one for which the store had nothing is not asked for again until a
        hint comes, or an attempt of its own ends: the others may be busy with a backlog.
        """
        if len(pools) == 1:
            return [pool for pool in pools if pool.wants_more]
        now = self._runtime.clock.elapsed()
        return [
            pool
            for pool in pools
            if pool.wants_more and (pool.ask_at <= now or pool.slots.have_ended_some)
        ]

    def _asks(self, pools: Sequence[ExecutionPool]) -> list[PoolAsk]:
        if not self._may_claim:
            return []
        return [(pool, ask) for pool in pools if (ask := pool.ask()).total]

    def _busy_pause(self, pools: Sequence[ExecutionPool]) -> float:
        """How long to leave the store alone while the slots have enough; they may wake the worker.

        Hints that come meanwhile are not lost: the store is asked in any case.
        """
        for pool in pools:
            if pool.has_waiting:
                pool.slots.wake_when_low()
        return SETTLE_WITHIN if self._settler.concurrent else self._settler.until_due()

    def _settles_concurrently(
        self, asks: Sequence[PoolAsk], pools: Sequence[ExecutionPool]
    ) -> bool:
        """Whether the settler settles the endings: during a backlog of quick jobs."""
        settler, before = self._settler, self._settler.concurrent
        backlog = any(pool.ahead > 0 for pool, _ in asks) or (
            before and any(pool.has_enough for pool in pools)
        )
        settler.concurrent = self._parts.store.writers > 1 and backlog
        if settler.concurrent and not before:
            settler.wake()
        return settler.concurrent

    async def _claim(self, pool: ExecutionPool, ask: Ask, settled: Sequence[Settlement]) -> float:
        """Settle, claim for one pool, and return how long this pool can wait."""
        try:
            taken = await self._take(pool, ask, settled)
        except BaseException:
            self._settler.put_back(settled)
            self._find_orphans_at = 0.0  # the answer may have named claims
            raise
        self._report(settled, taken)
        if ask.total:
            self._given = (self._given or 0) + len(taken.attempts)
        self._attempts.counts.claimed(taken.attempts)
        pool.start(ask, taken.attempts)
        if self._stopped_because is not None:  # since it asked
            self._pools.give_back_waiting(self._stopped_because)
        elif not self._state.may_hold_jobs:  # the answer came before a pause of this node
            self._pools.give_back_waiting(OLD_ANSWER)
        given_all = len(taken.attempts) == ask.total
        if pool.has_waiting and given_all:  # there may be more
            return max(0.0, self._busy_pause([pool]))
        wait = self._until_next_try(taken)
        pool.ask_at = 0.0 if given_all else self._runtime.clock.elapsed() + wait
        return 0.0 if self._attempts.settled else wait

    async def _take(self, pool: ExecutionPool, ask: Ask, settled: Sequence[Settlement]) -> Taken:
        wanted = Wanted(self.served, pool.tasks, ask.limit, ask.ahead)
        return await self._jobs.take(wanted, self._parts.node, settled)

    def _report(self, settled: Sequence[Settlement], taken: Taken) -> None:
        self._settler.report(settled, taken.verdicts)
        for job_id in taken.cancelled:
            self._bus.emit(JobConflicted(job_id))
        if taken.expired:
            self._bus.emit(JobsExpired(taken.expired))

    def _until_next_try(self, taken: Taken) -> float:
        if taken.expired:  # they may have taken the places of others
            return 0.0
        if taken.try_at is None:
            return self._poll
        wait = (taken.try_at - self._runtime.clock.now()).total_seconds()
        return min(wait if wait > 0 else AGAIN, self._poll)

    def _shortened(self, pause: float, pools: Sequence[ExecutionPool]) -> float:
        """The pause, or less if orphans are looked for earlier, or another pool is due earlier."""
        now = self._runtime.clock.elapsed()
        pause = min(pause, max(0.0, self._find_orphans_at - now))
        if len(pools) == 1:
            return pause
        return min([pause, *(pool.ask_at - now for pool in pools if pool.ask_at > now)])

    async def _check_at_intervals(self) -> None:
        """Give back orphans, and report tasks that nobody here knows."""
        now = self._runtime.clock.elapsed()
        if now < self._find_orphans_at:
            return
        settling = (settlement.hold for settlement in self._settler.under_way)
        await self._give_back_orphans(frozenset((*self._pools.holds, *settling)))
        queues, known = self._parts.queues, self._parts.registry.runnable
        unknown = frozenset(await self._jobs.unknown_tasks(queues, known, MOST_NAMED))
        for task in sorted(unknown - self._unknown):
            self._bus.emit(TaskUnknown(task))
        self._unknown = unknown
        self._find_orphans_at = now + ORPHANS_EVERY

    async def _give_back_orphans(self, known: frozenset[Hold]) -> None:
        """Give back claims whose answer was lost: the store has them, this node does not."""
        orphans = [
            Settlement(attempt.hold, Change.GIVE_BACK)
            for attempt in await self._jobs.held(self._parts.node)
            if attempt.hold not in known
        ]
        if orphans:
            await self._jobs.settle(orphans)
