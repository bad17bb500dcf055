"""The world: machines, processes, one store and one coordinator, for a few virtual minutes.

First things go wrong for a while, then everything is healed and the world goes on for a minute
and more, in which the fleet has to recover. What is wrong then, stays wrong.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import cast

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.events import Event, NodeDraining
from drumbeat.model.schedules.plan import Edit
from drumbeat.ports.store import Store
from drumbeat.testing import inside
from simulation.beliefs import new_belief
from simulation.chance import chance
from simulation.checkers import Monitor
from simulation.client import Client
from simulation.clock import ProcessClock
from simulation.dump import dump, dump_apart
from simulation.faults import CLOCKS, Fault, Nemesis, swarm, swarm_of_sqlite, weather
from simulation.file_faults import FileFaults
from simulation.guards import Guards
from simulation.handlers import Handlers
from simulation.history import (
    Applied,
    Guarded,
    History,
    Ran,
    StoreKind,
    Told,
)
from simulation.loop import Lane, NotSimulated, VirtualLoop
from simulation.network import Network, Server, Weather, driven
from simulation.process import (
    LEASE_TTL,
    Machine,
    Process,
    Surroundings,
    declare,
)
from simulation.servers import FickleCoordinator
from simulation.sqlite import SqliteFile
from simulation.telling import STORY_EVENTS, described

FAULTS_FOR = 40.0
"""Seconds in which things go wrong."""
RECOVERS_FOR = LEASE_TTL + 60.0
LOOK_EVERY = 0.5
DRIFT = 0.004
"""By what share machines count differently; leases allow for more than twice that."""
STARTS = (
    datetime(2026, 3, 29, 0, 59, 35, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 59, 35, tzinfo=UTC),
)
"""Just before Paris puts its clocks forward, and back."""
ORDINARY = datetime(2026, 6, 1, 12, 0, 3, tzinfo=UTC)
REDEPLOYS = 0.35
"""The share of the worlds in which processes start with newer code."""
APART = 0.1
"""The share of the worlds in which each node has a store of its own: the in-process mode."""
ROOMS = 0.3
"""The share of the worlds in which synchronous handlers have slots of their own."""


def is_apart(seed: int) -> bool:
    """Whether each node of this world has a store of its own."""
    return chance(seed, "mode").random() < APART


class World:
    """One seed's worth of a fleet."""

    def __init__(self, seed: int, kind: StoreKind = "memory") -> None:
        draw = chance(seed, "world")
        on_sqlite = kind == "sqlite"
        apart = is_apart(seed) and not on_sqlite
        self.kinds = swarm(draw) - (CLOCKS if apart else frozenset())
        if on_sqlite:
            self.kinds = swarm_of_sqlite(self.kinds, chance(seed, "faults of SQLite"))
        self._releases = chance(seed, "releases")
        if self._releases.random() < REDEPLOYS and not apart:
            self.kinds |= {Fault.REDEPLOYS}
        self._release = 0
        self.loop = VirtualLoop(chance(seed, "order").random)
        changes = Fault.CLOCK_CHANGE in self.kinds
        start = draw.choice(STARTS) if changes else ORDINARY
        self.history = History(seed, start, kinds=frozenset(self.kinds), store=kind, apart=apart)
        self.network = Network(self.loop, chance(seed, "network"), self.history)
        self._seed = seed
        self._handlers = Handlers(self, chance(seed, "handlers"))
        self._guards = Guards(self, chance(seed, "guards"))
        self._rates = chance(seed, "rates")
        self._weather = weather(self.kinds, draw)
        self._holds: dict[Lane, int] = {}
        self._cuts: dict[tuple[str, str], int] = {}
        self._lies = 0
        self._lanes: list[Lane] = []
        self._down: list[Machine] = []
        self.healed = False
        store = Server("store", Lane("store"), self._clock(start))
        own_clock = self._clock(start)
        coordinator = Server(
            "coordinator", Lane("coordinator"), store.clock if on_sqlite else own_clock
        )
        store.clock.change_rate(1.0)  # the store's wall clock is the true one
        self.coordinator = FickleCoordinator(coordinator.clock, f"world-{seed}")
        self._file = SqliteFile(self.loop, store.clock, seed) if on_sqlite else None
        if self._file is not None:
            self.file_faults = FileFaults(self, self._file, chance(seed, "killing"))
        memory = MemoryStore(store.clock)
        self.store: Store = self._file.observer if self._file else memory
        self._stores: list[tuple[str, MemoryStore]] = []
        self.monitor = Monitor(self.history, lambda ids: driven(self.store.jobs.get(ids)))
        self.network.on_applied = self._applied
        self._around = Surroundings(
            self.loop,
            self.network,
            memory,
            self.coordinator,
            store,
            coordinator,
            apart,
            self._file,
            threads=1 if chance(seed, "rooms").random() < ROOMS else None,
        )
        self.machines = [
            Machine(f"n{number}", store.clock if on_sqlite else self._clock(start))
            for number in range(1, draw.choice((2, 3, 3, 4)) + 1)
        ]
        self.processes: list[Process] = []
        client = Process(
            Machine("client", store.clock if on_sqlite else self._clock(start)),
            self._around,
            chance(seed, "client"),
        )
        declare(client.app, self._handlers.of(client))
        self._client = Client(self, client, chance(seed, "asking"))
        self._nemesis = Nemesis(self, chance(seed, "faults"))
        self.loop.after_turn = self._note_belief

    def run(self) -> History:
        """Live through it all."""
        silent = logging.getLogger("drumbeat")
        disabled, silent.disabled = silent.disabled, True
        collecting = gc.isenabled()
        gc.disable()  # what a dead process left must not come to life by being collected
        try:
            self.loop.run_until_complete(self.loop.start(self.loop.home, self._live(), "world"))
            history = self.history
            self._end()
        finally:
            self.loop.close()
            if self._file is not None:
                self._file.close()
            silent.disabled = disabled
            if collecting:
                gc.enable()
        return history

    async def _live(self) -> None:
        for machine in self.machines:
            self._boot_in(self._rates.random(), machine)
        self.network.weather = self._weather
        self._client.begin()
        self._nemesis.begin()
        await self._sleep(FAULTS_FOR)
        self._heal()
        until = self.loop.time() + RECOVERS_FOR
        while self.loop.time() < until:
            await self._sleep(LOOK_EVERY)
            leaders = [each.name for each in self.processes if each.app.leadership.is_leader]
            self.history.leaders.append((self.loop.time(), leaders[0] if leaders else None))
        self.history.ended_at = self.loop.time()
        if self.history.apart:
            self.history.dump = await dump_apart(self._stores)
            return
        edited = [
            edit.name
            for put in self.history.calls("put")
            for edit in cast("Sequence[Edit]", put.arguments[0])
        ]
        self.history.dump = await dump(self.store, edited)

    def _heal(self) -> None:
        self.healed = True
        self.history.healed_at = self.loop.time()
        self.tell("world", "healed", "everything works from here on")
        self.network.weather = Weather()
        self.network.cut.clear()
        self.coordinator.leases.lying = False
        if self._file is not None:
            self._file.full = False
        for machine in self.machines:
            machine.clock.set_right()
        while self._down:
            self._boot(self._down.pop(0))
        for process in self.processes:
            for lane in process.lanes:
                self.loop.resume(lane)

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something later, whoever lives then."""
        self.loop.call_later(seconds, act, context=self.loop.home.context)

    def ran(self, step: Ran) -> None:
        """A handler has begun or ended."""
        self.history.ran.append(step)
        self.monitor.see(step)

    def guarded(self, step: Guarded) -> None:
        """Something was done under a lock."""
        self.history.guarded.append(step)
        self.monitor.see(step)

    def _applied(self, step: Applied) -> None:
        self.history.applied.append(step)
        self.monitor.see(step)

    def tell(self, by: str, kind: str, text: str) -> None:
        """Add a line to the story."""
        self.history.told.append(Told(self.loop.time(), by, kind, text))

    def crash(self, process: Process, restart_in: float = 0.5) -> None:
        """Kill a process, and start it anew on its machine."""
        if not process.alive:
            return
        self.tell(process.name, "crash", f"killed; starts anew in {restart_in:g} s")
        self.bury(process, restart_in)

    def stop(self, process: Process) -> None:
        """Stop a process in an orderly way."""
        self.tell(process.name, "stop", "asked to stop")

        async def stop() -> None:
            try:
                await process.app.stop(grace=1.0)
            finally:
                if process.alive:
                    self.tell(process.name, "stopped", "ended")
                    self.bury(process, 0.5)

        self.loop.start(process.lane, stop(), "stop")

    def pause(self, process: Process, seconds: float, *, block_only: bool) -> None:
        """Let a process, or its main loop only, stand still for a while."""
        lanes = (process.lane,) if block_only else process.lanes
        what = "its event loop is blocked" if block_only else "paused"
        self.tell(process.name, "pause", f"{what} for {seconds:g} s")
        for lane in lanes:
            self._holds[lane] = self._holds.get(lane, 0) + 1
            self.loop.pause(lane)

        def resume() -> None:
            for lane in lanes:
                self._holds[lane] -= 1
                if self._holds[lane] == 0 and lane.paused:
                    self.loop.resume(lane)
            self.tell(process.name, "resume", "goes on")

        self.later(seconds, resume)

    def cut(self, ways: list[tuple[str, str]], seconds: float) -> None:
        """Let nothing pass on some ways for a while."""
        shown = ", ".join(f"{source}->{target}" for source, target in ways)
        self.tell("network", "partition", f"{shown} cut for {seconds:g} s")
        for way in ways:
            self._cuts[way] = self._cuts.get(way, 0) + 1
            self.network.cut.add(way)

        def mend() -> None:
            for way in ways:
                self._cuts[way] -= 1
                if self._cuts[way] == 0:
                    self.network.cut.discard(way)

        self.later(seconds, mend)

    def lie(self, seconds: float) -> None:
        """Let the coordinator appoint whoever asks, for a while."""
        self.tell("coordinator", "lies", f"it appoints everybody for {seconds:g} s")
        self._lies += 1
        self.coordinator.leases.lying = True

        def repent() -> None:
            self._lies -= 1
            self.coordinator.leases.lying = self._lies > 0 and not self.healed

        self.later(seconds, repent)

    def forget(self) -> None:
        """Restart the coordinator empty."""
        self.tell("coordinator", "forgets", "restarted empty")
        self.coordinator.leases.forget()

    def _boot(self, machine: Machine) -> None:
        random = chance(self._seed, f"{machine.name}.{machine.starts + 1}")
        process = Process(machine, self._around, random)
        declare(process.app, self._handlers.of(process), self._newest_release())
        process.app.on(Event)(partial(self._hear, process))
        if self._around.apart:
            self._stores.append((process.name, cast("MemoryStore", process.app.store)))
        self.processes.append(process)
        self.loop.start(process.lane, self._start(process), "start")

    def _newest_release(self) -> int:
        """The release that a process starts with: from time to time, a new one."""
        redeploys = Fault.REDEPLOYS in self.kinds and not self.healed
        if redeploys and self._releases.random() < 0.5:
            self._release += 1
            self.history.faults[Fault.REDEPLOYS] += 1
            self.tell("world", "release", f"release {self._release} is rolled out")
        return self._release

    async def _start(self, process: Process) -> None:
        try:
            await process.start()
        except Exception as error:  # noqa: BLE001 - a process that cannot start ends, and is started anew
            self.tell(process.name, "failed start", str(error))
            self.bury(process, 1.0)
            return
        if Fault.LOCKS in self.kinds:
            self.loop.start(process.lane, self._guards.guard(process), "guard")
        node = inside.node(process.app)
        if node is not None:
            await node.drain_requested.wait()
            self.stop(process)

    def bury(self, process: Process, restart_in: float) -> None:
        """End a process at once, and start it anew on its machine."""
        if process not in self.processes:
            return
        process.kill()
        self._lanes += process.lanes
        self.processes.remove(process)
        self._handlers.bury(process)
        self._boot_in(min(restart_in, 1.0) if self.healed else restart_in, process.machine)

    def _boot_in(self, seconds: float, machine: Machine) -> None:
        self._down.append(machine)

        def boot() -> None:
            if machine in self._down:  # it was not started meanwhile, by the healing
                self._down.remove(machine)
                self._boot(machine)

        self.later(seconds, boot)

    def _hear(self, process: Process, event: Event) -> None:
        if process.alive and isinstance(event, STORY_EVENTS):
            self.tell(process.name, type(event).__name__, described(event))
            if isinstance(event, NodeDraining):
                self.history.draining.setdefault(process.name, self.loop.time())

    def _note_belief(self, lane: Lane) -> None:
        step = new_belief(lane, self.processes, self.loop.time())
        if step is not None:
            self.history.believed.append(step)
            self.monitor.see(step)

    async def _sleep(self, seconds: float) -> None:
        woken = self.loop.create_future()
        self.loop.call_later(seconds, woken.set_result, None)
        await woken

    def _clock(self, start: datetime) -> ProcessClock:
        return ProcessClock(self.loop, start, 1.0 + DRIFT * (2 * self._rates.random() - 1))

    def _end(self) -> None:
        """Cancel whatever is left, of the living and the dead, so that nothing stays behind."""
        self.history = History(self._seed, self.history.start)  # what follows never happened
        self.monitor = Monitor(self.history)
        self.network.close()
        for process in tuple(self.processes):
            process.kill()
            self._lanes += process.lanes
        self.processes.clear()
        for lane in self._lanes:
            self.loop.revive(lane)
        for _ in range(20):
            pending = [task for task in self.loop.tasks if not task.done()]
            if not pending:
                return
            for task in pending:
                task.cancel()
            self.loop.run_until_complete(self.loop.start(self.loop.home, self._sleep(2.0), "end"))
        left = [task.get_name() for task in self.loop.tasks if not task.done()]
        if left:
            raise NotSimulated(f"these tasks cannot be cancelled: {left}")
