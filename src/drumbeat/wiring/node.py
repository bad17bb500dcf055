"""A node: all its services, put together."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.executing.executor import Executor, TracedExecutor
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.leading.witness_keeper import WitnessKeeper
from drumbeat.engine.lifecycle.node import NodeParts, RunningNode
from drumbeat.engine.lifecycle.registration import Registration
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.task import Place
from drumbeat.engine.ticking.schedule_sync import WaitingChange
from drumbeat.engine.working.attempt_runner import AttemptRunner
from drumbeat.engine.working.attempts import Attempts
from drumbeat.engine.working.heartbeat import Heartbeat
from drumbeat.engine.working.node_state import NodeState
from drumbeat.engine.working.pools import ExecutionPool, ExecutionPools, ProcessPool, SlotPool
from drumbeat.engine.working.process_slots import ProcessSlots
from drumbeat.engine.working.slots import Slots
from drumbeat.engine.working.worker import Worker
from drumbeat.engine.working.worker_parts import WorkerParts
from drumbeat.model.fleet.node import Node, Role
from drumbeat.version import VERSION
from drumbeat.wiring.app_state import AppState
from drumbeat.wiring.background import background_services
from drumbeat.wiring.leader import elector_of, leader_services
from drumbeat.wiring.timings import heartbeats_of


def build_node(
    app: AppState, roles: frozenset[Role], changes: Sequence[WaitingChange] = ()
) -> RunningNode:
    """All services of a node, ready to start.

    `changes` are the schedules that code changed and that have to wait for the leader.
    """
    backends, config, clock = app.backends, app.config, app.runtime.clock
    leads, works = Role.SCHEDULER in roles, Role.WORKER in roles
    keeper = _witness_keeper(app)
    elector = elector_of(app, keeper) if leads else None
    leadership = None
    if elector is not None:
        leadership = Leadership(elector, backends.store, leader_services(app, keeper), app.context)
    idle = app.followers_idle
    state = NodeState(heartbeats_of(config), clock, leadership, followers_idle=idle, witness=keeper)
    executor = _executor(app)
    # A leader without the role of a worker runs the built-in tasks, one at a time.
    registry = app.registry if works else app.registry.only_built_in()
    queues = config.queues if works else ()
    attempts = Attempts(app.context, state)
    if works:
        pools = _pools(app, executor, attempts)
    else:
        pools = _built_in_pool(registry, executor, attempts)
    parts = WorkerParts(
        node=app.id,
        queues=queues,
        poll=backends.poll,
        store=backends.store,
        tickets=backends.queue,
        registry=registry,
        pools=pools,
        state=state,
    )
    worker = Worker(parts, app.context) if works or leads else None
    node_id, started_at = app.id, clock.now()

    def describe() -> Node:
        return Node(
            id=node_id,
            roles=roles,
            version=VERSION,
            started_at=started_at,
            slots=pools.count if works else 0,
            busy=len(pools.attempts.running),
            queues=queues,
            draining=worker is not None and not worker.taking,
            metrics=pools.attempts.counts.metrics,
            addresses=app.addresses,
            witness=None if keeper is None else keeper.number,
        )

    node_parts = NodeParts(
        id=app.id,
        roles=roles,
        state=state,
        heartbeat=Heartbeat(backends.store.nodes, pools, state, app.context, describe=describe),
        registration=Registration(backends.coordinator, describe, state.heartbeats, app.context),
        pools=pools,
        executor=executor,
        worker=worker,
        elector=elector,
        others=tuple(background_services(app, leadership, changes)),
        in_process=backends.in_process,
    )
    return RunningNode(node_parts, backends.store, app.context)


def _witness_keeper(app: AppState) -> WitnessKeeper | None:
    """What holds the witness of this node; None: its store has none."""
    witnesses = app.backends.store.witnesses
    return None if witnesses is None else WitnessKeeper(app.id, witnesses, app.runtime, app.bus)


def _executor(app: AppState) -> Executor:
    if app.tracing is None:
        return Executor(app.bus, app.hooks)
    return TracedExecutor(app.bus, app.hooks, app.tracing)


def _pools(app: AppState, executor: Executor, attempts: Attempts) -> ExecutionPools:
    """Slots for each place where handlers run."""
    config, registry = app.config, app.registry

    def pool(count: int, *places: Place) -> ExecutionPool:
        slots = Slots(count, AttemptRunner(registry, executor, attempts))
        return SlotPool(frozenset(places), slots, registry)

    if config.threads is None:
        direct = [pool(config.concurrency, Place.LOOP, Place.THREAD)]
    else:
        direct = [pool(config.concurrency, Place.LOOP), pool(config.threads, Place.THREAD)]
    children = ProcessSlots(config.processes, AttemptRunner(registry, executor, attempts))
    return ExecutionPools([*direct, ProcessPool(children, registry)], attempts)


def _built_in_pool(
    registry: TaskRegistry, executor: Executor, attempts: Attempts
) -> ExecutionPools:
    """One slot, for the built-in tasks."""
    slots = Slots(1, AttemptRunner(registry, executor, attempts))
    return ExecutionPools([SlotPool(frozenset(Place), slots, registry)], attempts)
