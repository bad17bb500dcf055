"""Injects the planned faults and records them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random

from chaos.client import clock
from chaos.fault_plan import LEADER, FaultTargets, PlannedFault
from chaos.history import Fault, Kind
from chaos.node import BLOCK
from chaos.node_processes import LOOK_EVERY, NodeProcesses, works
from chaos.pairs import AnyServer, PairBackends
from drumbeat import Drumbeat
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import label_of
from drumbeat.model.jobs.retry import Retry
from servers import Etcd, FaultProxy
from servers.server import Server

READY_PATIENCE = 90.0
"""Seconds in which a node has to start again before the next fault of its track."""
BETWEEN = 0.5
"""Seconds between two faults of a track."""

Injection = Callable[[PlannedFault, str], Awaitable[None]]


def targets_of(backends: PairBackends, processes: NodeProcesses) -> FaultTargets:
    """The nodes and servers of a run, and the faults that are possible on them."""
    node_kinds = [Kind.KILL, Kind.STOP, Kind.PAUSE]
    if all(works(label) for label in processes.labels):
        node_kinds.append(Kind.BLOCK)
    if backends.servers:
        node_kinds += [Kind.PARTITION, Kind.PARTITION, Kind.SLOW]
    if processes.can_skew:
        node_kinds.append(Kind.SKEW)
    server_kinds = [(Kind.RESTART, name) for name in backends.servers]
    if backends.forgetful is not None:
        server_kinds.append((Kind.EMPTY, backends.forgetful))
    if backends.parts.queue is not None:
        server_kinds.append((Kind.EMPTY, backends.parts.queue))
    if backends.disk is not None:
        server_kinds.append((Kind.DISK_FULL, "disk"))
    return FaultTargets(processes.labels, tuple(backends.servers), node_kinds, server_kinds)


class FaultInjector:
    """Injects faults into nodes and their servers."""

    def __init__(
        self, backends: PairBackends, processes: NodeProcesses, client: Drumbeat, seed: str
    ) -> None:
        self._backends = backends
        self._processes = processes
        self._client = client
        self._random = Random(f"{seed}/targets")
        self._affected: set[str] = set()
        self.faults: list[Fault] = []
        """The injected faults, in elapsed time."""
        self._injections: dict[Kind, Injection] = {
            Kind.KILL: self._kill,
            Kind.STOP: self._stop,
            Kind.PAUSE: self._pause,
            Kind.PARTITION: self._cut,
            Kind.SLOW: self._slow,
            Kind.SKEW: self._skew,
            Kind.BLOCK: self._block,
            Kind.RESTART: self._restart,
            Kind.EMPTY: self._restart,
            Kind.DISK_FULL: self._fill_disk,
        }

    async def inject_all(self, faults: Sequence[PlannedFault]) -> None:
        """Inject each fault at its time. When this returns, all are healed."""
        began = clock.elapsed()
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                await clock.sleep(began + fault.at - clock.elapsed())
                group.create_task(self._inject(fault))

    async def inject_in_turn(self, tracks: Sequence[Sequence[PlannedFault]]) -> None:
        """Inject the faults of each track one after the other.

        The next one comes when the target of the last is well again, however long that takes.
        """
        async with asyncio.TaskGroup() as group:
            for track in tracks:
                group.create_task(self._inject_track(track))

    async def _inject_track(self, track: Sequence[PlannedFault]) -> None:
        for fault in track:
            await self._inject(fault)
            async with asyncio.timeout(READY_PATIENCE):
                while not self._is_well(fault.target):
                    await clock.sleep(LOOK_EVERY)
            await clock.sleep(BETWEEN)

    def _is_well(self, target: str) -> bool:
        if target in self._affected:
            return False
        return target not in self._processes.labels or self._processes.is_ready(target)

    async def _inject(self, fault: PlannedFault) -> None:
        target = await self._target(fault)
        if target is None:
            return
        self._affected.add(target)
        since = clock.elapsed()
        try:
            await self._injections[fault.kind](fault, target)
        finally:
            self._affected.discard(target)
        self.faults.append(Fault(fault.kind, target, since, clock.elapsed(), _detail(fault)))

    async def _target(self, fault: PlannedFault) -> str | None:
        """The planned target if it is healthy, otherwise a random healthy node."""
        if fault.target not in (LEADER, *self._processes.labels):
            return None if fault.target in self._affected else fault.target
        healthy = [
            label
            for label in self._processes.labels
            if label not in self._affected and self._processes.is_ready(label)
        ]
        wanted = await self._leader() if fault.target == LEADER else fault.target
        if wanted in healthy:
            return wanted
        return self._random.choice(healthy) if len(healthy) > 1 else None

    async def _leader(self) -> str | None:
        try:
            async with asyncio.timeout(1.0):
                lease = await self._client.leadership.leader()
        except (Unavailable, TimeoutError):
            return None
        return None if lease is None else label_of(lease.holder)

    async def _kill(self, fault: PlannedFault, label: str) -> None:
        await self._processes.kill(label)
        await clock.sleep(fault.seconds)
        self._processes.start(label)

    async def _stop(self, fault: PlannedFault, label: str) -> None:
        await self._processes.stop(label)
        await clock.sleep(fault.seconds)
        self._processes.start(label)

    async def _pause(self, fault: PlannedFault, label: str) -> None:
        if label not in self._processes.labels:
            await self._freeze(fault, label)
            return
        await self._processes.pause(label)
        await clock.sleep(fault.seconds)
        self._processes.resume(label)

    async def _freeze(self, fault: PlannedFault, name: str) -> None:
        server = self._server(name)
        await asyncio.to_thread(server.pause)
        await clock.sleep(fault.seconds)
        await asyncio.to_thread(server.resume)

    async def _cut(self, fault: PlannedFault, label: str) -> None:
        proxies = self._proxies(fault, label)
        for proxy in proxies:
            match fault.way:
                case "to the server":
                    proxy.stall("to_server")
                case "to the node":
                    proxy.stall("to_client")
                case _:
                    proxy.black_hole()
        await clock.sleep(fault.seconds)
        for proxy in proxies:
            proxy.heal()

    async def _slow(self, fault: PlannedFault, label: str) -> None:
        proxies = self._proxies(fault, label)
        for proxy in proxies:
            proxy.delay(fault.amount)
        await clock.sleep(fault.seconds)
        for proxy in proxies:
            proxy.heal()

    def _proxies(self, fault: PlannedFault, label: str) -> list[FaultProxy]:
        servers = self._processes.proxied_servers[label]
        chosen = [servers[fault.server]] if fault.server else list(servers.values())
        return [proxy for server in chosen for proxy in server.proxies]

    async def _skew(self, fault: PlannedFault, label: str) -> None:
        self._processes.set_clock(label, fault.amount)
        await clock.sleep(fault.seconds)
        self._processes.set_clock(label, 0)
        await clock.sleep(1.0)  # libfaketime follows within a second

    async def _block(self, fault: PlannedFault, label: str) -> None:
        options = TaskOptions(queue=label, retry=Retry.never(), priority=100)
        began = clock.elapsed()
        while clock.elapsed() < began + fault.seconds:
            try:
                await self._client.jobs.submit(BLOCK, [fault.seconds], options=options)
            except Unavailable:
                await clock.sleep(LOOK_EVERY)
            else:
                await clock.sleep(fault.seconds)
                return

    async def _restart(self, fault: PlannedFault, name: str) -> None:
        server = self._server(name)
        if fault.kind is Kind.RESTART and isinstance(server, Etcd):
            member = await asyncio.to_thread(server.leader)  # so that the others elect another
            await asyncio.to_thread(member.kill)
        else:
            await asyncio.to_thread(server.kill)
        await clock.sleep(fault.seconds)
        restart = server.restart_empty if fault.kind is Kind.EMPTY else server.start_again
        await asyncio.to_thread(restart)

    def _server(self, name: str) -> AnyServer | Server:
        """The server of this name, or its member: `etcd/2`."""
        name, _, member = name.partition("/")
        server = self._backends.servers[name]
        return server.members[int(member)] if isinstance(server, Etcd) and member else server

    async def _fill_disk(self, fault: PlannedFault, _: str) -> None:
        disk = self._backends.disk
        assert disk is not None
        await asyncio.to_thread(disk.fill, self._processes.pids)
        await clock.sleep(fault.seconds)
        disk.free(self._processes.pids)


def _detail(fault: PlannedFault) -> str:
    where = f"to {fault.server}" if fault.server else "to all servers"
    match fault.kind:
        case Kind.PARTITION:
            return f"{fault.way}, {where.removeprefix('to ')}"
        case Kind.SLOW:
            return f"{fault.amount * 1000:.0f} ms each way, {where.removeprefix('to ')}"
        case Kind.SKEW:
            return f"clock {fault.amount:+g} s"
        case _:
            return ""
