"""The hand: takes jobs one at a time and runs each to its end, in place of a worker.

It goes the whole way that a job goes in production (claim, run, settle, in the app's own store),
but only when it is told to, and never two jobs at once: what a test sees does not depend on luck.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from drumbeat.app import Drumbeat
from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.task import Handler, Place, TaskDefinition
from drumbeat.engine.working.attempt_runner import AttemptRunner
from drumbeat.engine.working.attempts import Attempts
from drumbeat.engine.working.process_slots import ProcessSlots
from drumbeat.engine.working.slots import Slots
from drumbeat.model.errors import ConfigurationError, Outcome
from drumbeat.model.events import AttemptSuperseded, JobConflicted, JobSettled, JobsExpired
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Attempt, Settled, Settlement, Status, Superseded, Taken, Wanted
from drumbeat.model.jobs.retry import Retry
from drumbeat.testing import inside

NAME = NodeId("testing:by-hand")
ONCE = Retry.never()


@dataclass(frozen=True, slots=True)
class Worked:
    """One attempt that was run: what it asked of the store, and where its job stands by that."""

    attempt: Attempt
    settlement: Settlement
    status: Status
    error: Exception | None
    """What the handler raised, if it raised and ran in this process."""


class Hand:
    """Works jobs of an app off, one after the other."""

    def __init__(self, app: Drumbeat) -> None:
        if inside.node(app) is not None:
            raise ConfigurationError(
                "the app is running, so its node takes the jobs; stop it before a test runs them "
                "by hand, or move a FakeClock on and let the node run them"
            )
        self._setup = inside.setup(app)
        self._jobs = self._setup.backends.store.jobs

    async def take(self, queues: Iterable[str], tasks: frozenset[str]) -> Taken:
        """Claim one job of these queues and tasks, if one may run now."""
        taken = await self._jobs.take(Wanted(tuple(queues), tasks, 1), NAME)
        for job_id in taken.cancelled:
            self._setup.bus.emit(JobConflicted(job_id))
        if taken.expired:
            self._setup.bus.emit(JobsExpired(taken.expired))
        return taken

    async def work(self, attempt: Attempt) -> Worked:
        """Run a claimed job to the end of its attempt, and settle it."""
        raised: list[Exception] = []
        settlement = await self._perform(attempt, raised)
        (verdict,) = await self._jobs.settle([settlement])
        error = raised[-1] if raised else None
        match verdict:
            case Settled(_, status):
                self._setup.bus.emit(JobSettled(settlement, status))
                worked = Worked(attempt, settlement, status, error)
            case Superseded(hold):  # cancelled or taken away while it ran
                self._setup.bus.emit(AttemptSuperseded(hold))
                worked = Worked(attempt, settlement, Status.CANCELLED, error)
        await self._setup.bus.flush()  # no node runs that would run the listeners
        return worked

    async def work_once(self, attempt: Attempt) -> Worked:
        """The same, as the job's only attempt: an error fails it, whatever its retries are."""
        return await self.work(replace(attempt, spec=replace(attempt.spec, retry=ONCE)))

    async def _perform(self, attempt: Attempt, raised: list[Exception]) -> Settlement:
        setup = self._setup
        definition = _watched(setup.registry.get(attempt.spec.task), raised)
        registry, executor = TaskRegistry([definition]), Executor(setup.bus, setup.hooks)
        attempts = Attempts(setup.context)
        slots = await _slot(definition, registry, executor, attempts)
        try:
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(slots.run(), name="drumbeat-by-hand")
                slots.give([attempt])
                while not attempts.settled:
                    await attempts.ended.wait()
                serving.cancel()
        finally:
            executor.close()
        return attempts.settled[0]


async def _slot(
    definition: TaskDefinition, registry: TaskRegistry, executor: Executor, attempts: Attempts
) -> Slots:
    """One slot of the kind that the task needs."""
    runner = AttemptRunner(registry, executor, attempts)
    if definition.place is not Place.PROCESS:
        return Slots(1, runner)
    # A process that does not start is an error of the test: nobody else could run the job.
    executor.processes.release(await executor.processes.ready(registry.process_modules))
    return ProcessSlots(1, runner)


def _watched(definition: TaskDefinition, raised: list[Exception]) -> TaskDefinition:
    """The same task, whose errors are kept besides becoming text in the store."""
    if definition.place is Place.PROCESS:  # there the error stays in the child
        return definition
    watch = _watch_coroutine if definition.place is Place.LOOP else _watch_function
    return replace(definition, handler=watch(definition.handler, raised))


def _watch_coroutine(handler: Handler, raised: list[Exception]) -> Handler:
    @wraps(handler)
    async def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return await handler(*args, **kwargs)
        except Exception as error:
            _keep(error, raised)
            raise

    return watched


def _watch_function(handler: Handler, raised: list[Exception]) -> Handler:
    @wraps(handler)
    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return handler(*args, **kwargs)
        except Exception as error:
            _keep(error, raised)
            raise

    return watched


def _keep(error: Exception, raised: list[Exception]) -> None:
    if not isinstance(error, Outcome):  # snoozing and cancelling are not failures
        raised.append(error)
