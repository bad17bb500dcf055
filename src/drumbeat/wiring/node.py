"""A node: all its services, put together."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.declaring import WaitingChange
from drumbeat.engine.executor import Executor
from drumbeat.engine.keeper import Keeper
from drumbeat.engine.leadership import Leadership
from drumbeat.engine.node import Parts, RunningNode
from drumbeat.engine.traced import TracedExecutor
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Node, Role
from drumbeat.version import VERSION
from drumbeat.wiring.background import background_services, declarer
from drumbeat.wiring.leader import elector_of, leader_services
from drumbeat.wiring.plant import Plant
from drumbeat.wiring.timings import heartbeats_of
from drumbeat.wiring.worker import errand_room, errands_of, rooms_of, worker_of


def build_node(
    plant: Plant, node_id: NodeId, roles: frozenset[Role], changes: Sequence[WaitingChange] = ()
) -> RunningNode:
    """All services of a node, put together and ready to start.

    `changes` are the schedules that code changed and that have to wait for the leader.
    """
    runtime, bus, config = plant.runtime, plant.bus, plant.config
    executor = Executor(bus) if plant.tracing is None else TracedExecutor(bus, plant.tracing)
    works = Role.WORKER in roles
    rooms = rooms_of(plant, executor) if works else errand_room(plant, executor)
    started_at = runtime.clock.now()
    worker = worker_of(plant, node_id, rooms) if works else None
    if worker is None and Role.SCHEDULER in roles:
        worker = errands_of(plant, node_id, rooms)

    def describe() -> Node:
        return Node(
            id=node_id,
            roles=roles,
            version=VERSION,
            started_at=started_at,
            slots=rooms.count if works else 0,
            busy=len(rooms.attempts.running),
            queues=config.queues if works else (),
            draining=worker is not None and not worker.taking,
        )

    keeper = Keeper(
        plant.backends.store.nodes, describe, heartbeats_of(config), rooms, runtime, bus
    )
    elector = elector_of(plant, node_id) if Role.SCHEDULER in roles else None
    leadership = None
    if elector is not None:
        leadership = Leadership(elector, plant.backends.store, leader_services(plant), runtime, bus)
    parts = Parts(
        node_id,
        roles,
        keeper,
        rooms,
        executor,
        worker,
        elector,
        leadership,
        (*background_services(plant, node_id, elector, leadership), *declarer(plant, changes)),
        plant.followers_idle,
        plant.backends.in_process,
    )
    return RunningNode(parts, plant.backends.store, runtime, bus)
