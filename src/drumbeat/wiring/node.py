"""A node: all its services, put together."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.executing.traced import TracedExecutor
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.lifecycle.node import NodeParts, RunningNode
from drumbeat.engine.ticking.schedule_sync import WaitingChange
from drumbeat.engine.working.heartbeat import Heartbeat
from drumbeat.engine.working.node_state import NodeState
from drumbeat.model.fleet.node import Node, Role
from drumbeat.model.ids import NodeId
from drumbeat.version import VERSION
from drumbeat.wiring.background import background_services, declarer
from drumbeat.wiring.leader import elector_of, leader_services
from drumbeat.wiring.setup import NodeSetup
from drumbeat.wiring.timings import heartbeats_of
from drumbeat.wiring.worker import built_in_pool, built_in_worker, pools_of, worker_of


def build_node(
    setup: NodeSetup, node_id: NodeId, roles: frozenset[Role], changes: Sequence[WaitingChange] = ()
) -> RunningNode:
    """All services of a node, ready to start.

    `changes` are the schedules that code changed and that have to wait for the leader.
    """
    backends, config = setup.backends, setup.config
    elector = elector_of(setup, node_id) if Role.SCHEDULER in roles else None
    leadership = None
    if elector is not None:
        services = leader_services(setup)
        leadership = Leadership(elector, backends.store, services, setup.context)
    clock = setup.runtime.clock
    idle = setup.followers_idle
    state = NodeState(heartbeats_of(config), clock, leadership, followers_idle=idle)
    bus, tracing = setup.bus, setup.tracing
    executor = Executor(bus) if tracing is None else TracedExecutor(bus, tracing)
    works = Role.WORKER in roles
    pools = pools_of(setup, state, executor) if works else built_in_pool(setup, state, executor)
    worker = worker_of(setup, node_id, pools, state) if works else None
    if worker is None and Role.SCHEDULER in roles:
        worker = built_in_worker(setup, node_id, pools, state)
    started_at = clock.now()

    def describe() -> Node:
        return Node(
            id=node_id,
            roles=roles,
            version=VERSION,
            started_at=started_at,
            slots=pools.count if works else 0,
            busy=len(pools.attempts.running),
            queues=config.queues if works else (),
            draining=worker is not None and not worker.taking,
        )

    background = background_services(setup, node_id, elector, leadership)
    parts = NodeParts(
        id=node_id,
        roles=roles,
        state=state,
        heartbeat=Heartbeat(backends.store.nodes, pools, state, setup.context, describe=describe),
        pools=pools,
        executor=executor,
        worker=worker,
        elector=elector,
        others=(*background, *declarer(setup, changes)),
        in_process=backends.in_process,
    )
    return RunningNode(parts, backends.store, setup.context)
