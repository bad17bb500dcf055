"""The worker of a node, and the rooms it claims for."""

from __future__ import annotations

from drumbeat.engine.attempts import Attempts
from drumbeat.engine.executor import Executor
from drumbeat.engine.listener import WorkerSettings
from drumbeat.engine.process_slots import ProcessSlots
from drumbeat.engine.rooms import ProcessRoom, Room, Rooms, SlotRoom
from drumbeat.engine.slots import Slots
from drumbeat.engine.task import Place
from drumbeat.engine.worker import Worker
from drumbeat.model.ids import NodeId
from drumbeat.wiring.plant import Plant


def rooms_of(plant: Plant, executor: Executor) -> Rooms:
    """Slots for each place where handlers run."""
    config, registry, attempts = plant.config, plant.registry, Attempts(plant.runtime, plant.bus)

    def room(count: int, *places: Place) -> Room:
        return SlotRoom(frozenset(places), Slots(count, registry, executor, attempts), registry)

    if config.threads is None:
        direct = [room(config.concurrency, Place.LOOP, Place.THREAD)]
    else:
        direct = [room(config.concurrency, Place.LOOP), room(config.threads, Place.THREAD)]
    children = ProcessSlots(config.processes, registry, executor, attempts)
    return Rooms([*direct, ProcessRoom(children, registry)], attempts)


def errand_room(plant: Plant, executor: Executor) -> Rooms:
    """One slot, for the built-in tasks."""
    registry, attempts = plant.registry.only_built_in(), Attempts(plant.runtime, plant.bus)
    slots = Slots(1, registry, executor, attempts)
    return Rooms([SlotRoom(frozenset(Place), slots, registry)], attempts)


def worker_of(plant: Plant, node_id: NodeId, rooms: Rooms) -> Worker:
    """Takes jobs of the queues that this node serves, for all its rooms."""
    store = plant.backends.store
    settings = WorkerSettings(node_id, plant.config.queues, plant.backends.poll, store.writers)
    return Worker(
        settings,
        store.jobs,
        plant.backends.queue,
        plant.registry,
        rooms,
        plant.runtime,
        plant.bus,
    )


def errands_of(plant: Plant, node_id: NodeId, rooms: Rooms) -> Worker:
    """What a node without the role of a worker runs while it leads: built-in tasks, one a time."""
    backends = plant.backends
    return Worker(
        WorkerSettings(node_id, (), backends.poll),
        backends.store.jobs,
        backends.queue,
        plant.registry.only_built_in(),
        rooms,
        plant.runtime,
        plant.bus,
    )
