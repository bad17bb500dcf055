"""Witnesses as a process sees them: sessions of a server, over the network, or locks of a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, cast

from drumbeat.backends.memory.store.witnesses import MemoryWitness, MemoryWitnesses
from drumbeat.backends.sqlite.connection.witness_file import FileWitness
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.ports.witness import Witness, Witnesses
from simulation.loop import LANE
from simulation.network import Call, Network, Sender, Server


class FaultyWitnesses(MemoryWitnesses):
    """The witnesses of a memory world, which can lie."""

    lying = False
    """While True, it says of every node that its number is free."""

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        if not self.lying:
            return await super().check_all(at)
        expected = await self._nodes.witnessed(at)
        return WitnessCheck(len(expected), tuple(expected))


class RemoteWitnesses:
    """The witnesses of a server, as one process sees them."""

    def __init__(
        self, network: Network, sender: Sender, server: Server, witnesses: Witnesses
    ) -> None:
        self._network = network
        self._sender = sender
        self._server = server
        self._witnesses = witnesses
        self.sessions: list[MemoryWitness | FileWitness] = []
        """The sessions of this process, the last one last."""
        self.freed_together = witnesses.freed_together

    async def ask(self, name: str, step: Callable[..., Coroutine[Any, Any, Any]], *of: Any) -> Any:
        return await self._network.ask(self._sender, Call(self._server, name, step, of, {}))

    def session(self, on_lost: Callable[[], None]) -> Witness:
        loop, here = asyncio.get_running_loop(), LANE.get().context

        def tell() -> None:
            loop.call_soon(on_lost, context=here.copy())

        session = cast("MemoryWitness | FileWitness", self._witnesses.session(tell))
        self.sessions.append(session)
        if isinstance(session, FileWitness):
            return session  # the kernel of the machine answers at once
        return _RemoteWitness(self, session)

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        check: WitnessCheck = await self.ask("check_all", self._witnesses.check_all, at)
        return check

    async def declare_dead(self, vanished: Vanished) -> bool:
        return bool(await self.ask("declare_dead", self._witnesses.declare_dead, vanished))


class _RemoteWitness:
    """A session of the server. A new one ends those before it, as a new connection does."""

    def __init__(self, remote: RemoteWitnesses, session: MemoryWitness) -> None:
        self._remote = remote
        self._session = session

    async def take(self, number: int) -> bool:
        return bool(await self._remote.ask("take_witness", self._take, number))

    async def prove(self) -> None:
        await self._remote.ask("prove", self._session.prove)

    async def close(self) -> None:
        await self._remote.ask("close_witness", self._session.close)

    async def _take(self, number: int) -> bool:
        sessions = cast("list[MemoryWitness]", self._remote.sessions)
        if self._session is sessions[-1]:
            for earlier in sessions[:-1]:
                earlier.cut()
        return await self._session.take(number)
