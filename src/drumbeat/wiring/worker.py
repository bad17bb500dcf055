"""The worker of a node, and the pools it claims for."""

from __future__ import annotations

from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.tasks.task import Place
from drumbeat.engine.working.attempt_runner import AttemptRunner
from drumbeat.engine.working.attempts import Attempts
from drumbeat.engine.working.node_state import NodeState
from drumbeat.engine.working.pools import ExecutionPool, ExecutionPools, ProcessPool, SlotPool
from drumbeat.engine.working.process_slots import ProcessSlots
from drumbeat.engine.working.queue_listener import WorkerSettings
from drumbeat.engine.working.slots import Slots
from drumbeat.engine.working.worker import Worker, WorkerParts
from drumbeat.model.ids import NodeId
from drumbeat.wiring.setup import NodeSetup


def pools_of(setup: NodeSetup, state: NodeState, executor: Executor) -> ExecutionPools:
    """Slots for each place where handlers run."""
    config, registry, attempts = setup.config, setup.registry, Attempts(setup.context, state)

    def pool(count: int, *places: Place) -> ExecutionPool:
        slots = Slots(count, AttemptRunner(registry, executor, attempts))
        return SlotPool(frozenset(places), slots, registry)

    if config.threads is None:
        direct = [pool(config.concurrency, Place.LOOP, Place.THREAD)]
    else:
        direct = [pool(config.concurrency, Place.LOOP), pool(config.threads, Place.THREAD)]
    children = ProcessSlots(config.processes, AttemptRunner(registry, executor, attempts))
    return ExecutionPools([*direct, ProcessPool(children, registry)], attempts)


def built_in_pool(setup: NodeSetup, state: NodeState, executor: Executor) -> ExecutionPools:
    """One slot, for the built-in tasks."""
    registry, attempts = setup.registry.only_built_in(), Attempts(setup.context, state)
    slots = Slots(1, AttemptRunner(registry, executor, attempts))
    return ExecutionPools([SlotPool(frozenset(Place), slots, registry)], attempts)


def worker_of(setup: NodeSetup, node_id: NodeId, pools: ExecutionPools, state: NodeState) -> Worker:
    backends = setup.backends
    store = backends.store
    parts = WorkerParts(
        settings=WorkerSettings(node_id, setup.config.queues, backends.poll, store.writers),
        jobs=store.jobs,
        queue=backends.queue,
        registry=setup.registry,
        pools=pools,
        state=state,
    )
    return Worker(parts, setup.context)


def built_in_worker(
    setup: NodeSetup, node_id: NodeId, pools: ExecutionPools, state: NodeState
) -> Worker:
    """Runs the built-in tasks, one at a time, on a leader without the role of a worker."""
    backends = setup.backends
    parts = WorkerParts(
        settings=WorkerSettings(node_id, (), backends.poll),
        jobs=backends.store.jobs,
        queue=backends.queue,
        registry=setup.registry.only_built_in(),
        pools=pools,
        state=state,
    )
    return Worker(parts, setup.context)
