"""The nemesis: injects the drawn faults one after the other and records them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random

from chaos.crew import LOOK_EVERY, Crew, clock
from chaos.drawing import LEADER, Blow, Field
from chaos.history import Fault, Kind
from chaos.node import BLOCK
from chaos.pairs import Ground
from drumbeat import Drumbeat
from drumbeat.engine.tasks.task import TaskOptions
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import label_of
from drumbeat.model.jobs.retry import Retry
from servers import Etcd, FaultProxy

Deed = Callable[[Blow, str], Awaitable[None]]


def field_of(ground: Ground, crew: Crew) -> Field:
    """What can be harmed on this ground."""
    node_kinds = [Kind.KILL, Kind.STOP, Kind.PAUSE, Kind.BLOCK]
    if ground.servers:
        node_kinds += [Kind.PARTITION, Kind.PARTITION, Kind.SLOW]
    if crew.can_skew:
        node_kinds.append(Kind.SKEW)
    server_kinds = [(Kind.RESTART, name) for name in ground.servers]
    if ground.forgetful is not None:
        server_kinds.append((Kind.EMPTY, ground.forgetful))
    if ground.disk is not None:
        server_kinds.append((Kind.DISK_FULL, "disk"))
    return Field(crew.labels, tuple(ground.servers), node_kinds, server_kinds)


class Nemesis:
    """Harms a crew and its ground."""

    def __init__(self, ground: Ground, crew: Crew, client: Drumbeat, seed: str) -> None:
        self._ground = ground
        self._crew = crew
        self._client = client
        self._chance = Random(f"{seed}/targets")
        self._harmed: set[str] = set()
        self.faults: list[Fault] = []
        """What was done, in elapsed time."""
        self._deeds: dict[Kind, Deed] = {
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

    async def harm(self, blows: Sequence[Blow]) -> None:
        """Do everything at its time. When this returns, everything is healed."""
        began = clock.elapsed()
        async with asyncio.TaskGroup() as hands:
            for blow in blows:
                await clock.sleep(began + blow.at - clock.elapsed())
                hands.create_task(self._strike(blow))

    async def _strike(self, blow: Blow) -> None:
        target = await self._target(blow)
        if target is None:
            return
        self._harmed.add(target)
        since = clock.elapsed()
        try:
            await self._deeds[blow.kind](blow, target)
        finally:
            self._harmed.discard(target)
        self.faults.append(Fault(blow.kind, target, since, clock.elapsed(), _detail(blow)))

    async def _target(self, blow: Blow) -> str | None:
        """Whom it hits: the leader if that is meant, or else one who runs and whom nothing ails."""
        if blow.target not in (LEADER, *self._crew.labels):
            return None if blow.target in self._harmed else blow.target
        well = [
            label
            for label in self._crew.labels
            if label not in self._harmed and self._crew.is_ready(label)
        ]
        wanted = await self._leader() if blow.target == LEADER else blow.target
        if wanted in well:
            return wanted
        return self._chance.choice(well) if len(well) > 1 else None

    async def _leader(self) -> str | None:
        try:
            async with asyncio.timeout(1.0):
                lease = await self._client.leadership.leader()
        except (Unavailable, TimeoutError):
            return None
        return None if lease is None else label_of(lease.holder)

    async def _kill(self, blow: Blow, label: str) -> None:
        await self._crew.kill(label)
        await clock.sleep(blow.seconds)
        self._crew.start(label)

    async def _stop(self, blow: Blow, label: str) -> None:
        await self._crew.stop(label)
        await clock.sleep(blow.seconds)
        self._crew.start(label)

    async def _pause(self, blow: Blow, label: str) -> None:
        await self._crew.pause(label)
        await clock.sleep(blow.seconds)
        self._crew.resume(label)

    async def _cut(self, blow: Blow, label: str) -> None:
        wires = self._wires(blow, label)
        for wire in wires:
            match blow.way:
                case "to the server":
                    wire.stall("to_server")
                case "to the node":
                    wire.stall("to_client")
                case _:
                    wire.black_hole()
        await clock.sleep(blow.seconds)
        for wire in wires:
            wire.heal()

    async def _slow(self, blow: Blow, label: str) -> None:
        wires = self._wires(blow, label)
        for wire in wires:
            wire.delay(blow.amount)
        await clock.sleep(blow.seconds)
        for wire in wires:
            wire.heal()

    def _wires(self, blow: Blow, label: str) -> list[FaultProxy]:
        lines = self._crew.lines[label]
        chosen = [lines[blow.server]] if blow.server else list(lines.values())
        return [wire for line in chosen for wire in line.wires]

    async def _skew(self, blow: Blow, label: str) -> None:
        self._crew.set_clock(label, blow.amount)
        await clock.sleep(blow.seconds)
        self._crew.set_clock(label, 0)
        await clock.sleep(1.0)  # by then it has noticed

    async def _block(self, blow: Blow, label: str) -> None:
        options = TaskOptions(queue=label, retry=Retry.never(), priority=100)
        began = clock.elapsed()
        while clock.elapsed() < began + blow.seconds:
            try:
                await self._client.jobs.submit(BLOCK, [blow.seconds], options=options)
            except Unavailable:
                await clock.sleep(LOOK_EVERY)
            else:
                await clock.sleep(blow.seconds)
                return

    async def _restart(self, blow: Blow, name: str) -> None:
        server = self._ground.servers[name]
        if blow.kind is Kind.RESTART and isinstance(server, Etcd):
            member = await asyncio.to_thread(server.leader)  # the others have to elect another
            await asyncio.to_thread(member.kill)
        else:
            await asyncio.to_thread(server.kill)
        await clock.sleep(blow.seconds)
        again = server.restart_empty if blow.kind is Kind.EMPTY else server.start_again
        await asyncio.to_thread(again)

    async def _fill_disk(self, blow: Blow, _: str) -> None:
        disk = self._ground.disk
        assert disk is not None
        await asyncio.to_thread(disk.fill, self._crew.pids)
        await clock.sleep(blow.seconds)
        disk.free(self._crew.pids)


def _detail(blow: Blow) -> str:
    where = f"to {blow.server}" if blow.server else "to all servers"
    match blow.kind:
        case Kind.PARTITION:
            return f"{blow.way}, {where.removeprefix('to ')}"
        case Kind.SLOW:
            return f"{blow.amount * 1000:.0f} ms each way, {where.removeprefix('to ')}"
        case Kind.SKEW:
            return f"clock {blow.amount:+g} s"
        case _:
            return ""
