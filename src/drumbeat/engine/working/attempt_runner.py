"""AttemptRunner: runs the attempt of one slot to its end and frees the slot for the next."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.executing.processes import HandlerProcess
from drumbeat.engine.executing.run import Run
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.working.attempts import Attempts
from drumbeat.model.events import ServiceFailed
from drumbeat.model.jobs.ending import GivenBack, Raised, Returned
from drumbeat.model.jobs.job import Attempt
from drumbeat.rules.jobs.retry_condition import answered


class AttemptRunner:
    """Runs attempts for the slots of one pool, and counts them."""

    def __init__(self, registry: TaskRegistry, executor: Executor, attempts: Attempts) -> None:
        self.registry = registry
        self.executor = executor
        self.attempts = attempts
        self._clock = attempts.runtime.clock
        self._stopping = False
        self.busy = 0
        """Slots that run an attempt."""
        self.ended = 0
        self.spent = 0.0
        """Attempts that have ended, and the seconds that they took, since this was reset."""

    async def run(
        self, attempt: Attempt, slot: asyncio.Task[Any], child: HandlerProcess | None = None
    ) -> None:
        """Run the handler of one attempt to its end, and keep how it ended."""
        attempts = self.attempts
        was_blocked = False
        self.busy += 1
        try:
            definition = self.registry.get(attempt.spec.task)
            run = Run(attempt, definition, self._clock, attempts.epoch)
            run.begin(slot)
            run.child = child
            attempts.begin(run)
            try:
                ending = await self.executor.execute(run)
            finally:
                del attempts.running[run]
            seconds = self._clock.elapsed() - run.started_at
            if type(ending) is not Returned:
                condition = definition.options.retry.condition
                if condition is not None:
                    ending = answered(ending, condition, attempt)
            self.ended += 1
            self.spent += seconds
            attempts.settle(attempt, ending, seconds)
            if run.left_behind is not None or slot.cancelling() > 0:
                was_blocked = True
                await self._free(run, slot)
        except Exception as error:  # noqa: BLE001 - an error of the engine must not end the slot
            attempts.bus.emit(ServiceFailed("slot", error, 1))
            attempts.settle(attempt, Raised(f"the engine failed: {error!r}"))
            was_blocked = False
        finally:
            self.busy -= 1
        if was_blocked:  # the slot was not free yet when the settlement was reported
            attempts.changed.set()

    def stop(self) -> None:
        """Call right before the slots are cancelled: no handler has requested that."""
        self._stopping = True
        for run in self.attempts.running:
            run.interruption = run.interruption or GivenBack("the node is stopping")

    async def _free(self, run: Run, slot: asyncio.Task[Any]) -> None:
        if slot.cancelling() > 0:
            await self._drop_cancellation(slot)
        if run.left_behind is not None:
            await asyncio.wait([run.left_behind])
            run.left_behind.exception()  # so that asyncio does not report it

    async def _drop_cancellation(self, slot: asyncio.Task[Any]) -> None:
        """Drop a cancellation that was meant for the handler: the slot goes on to serve others."""
        if not self._stopping:
            while slot.uncancel():
                pass
            with suppress(asyncio.CancelledError):  # one that the handler did not wait for
                await self._clock.sleep(0)
        if self._stopping:
            raise asyncio.CancelledError
