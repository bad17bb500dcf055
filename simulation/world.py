"""A world: machines, processes, one store and one coordinator, for a few virtual minutes.

Faults are injected for a while. Then everything is healed, and the fleet has a little more than a
minute to recover; what is still wrong at the end is a violation.
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
from simulation import faults
from simulation.beliefs import new_belief
from simulation.checkers import Monitor
from simulation.client import Client
from simulation.clock import ProcessClock
from simulation.dump import dump, dump_separate_stores
from simulation.faults import CLOCKS, Fault, FaultInjector, conditions, swarm, swarm_of_sqlite
from simulation.faulty_coordinator import FaultyCoordinator
from simulation.faulty_queue import queue_of
from simulation.file_faults import FileFaults
from simulation.handlers import Handlers
from simulation.history import (
    ExecutedRequest,
    HandlerStep,
    History,
    LockUse,
    LogEntry,
    StoreKind,
)
from simulation.lock_users import LockUsers
from simulation.logged_events import LOGGED_EVENTS, description_of
from simulation.loop import Lane, NotSimulated, VirtualLoop
from simulation.network import Network, NetworkConditions, Server, run_step
from simulation.process import LEASE_TTL, Environment, Machine, Process, declare
from simulation.randomness import random_for
from simulation.sqlite import SqliteFile
from simulation.witness_faults import WitnessFaults

FAULTS_FOR = 40.0
"""Seconds with faults."""
RECOVERS_FOR = LEASE_TTL + 60.0
LOOK_EVERY = 0.5
DRIFT = 0.004
"""The largest error of a clock rate; leases allow for more than twice that."""
STARTS = (
    datetime(2026, 3, 29, 0, 59, 35, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 59, 35, tzinfo=UTC),
)
"""Just before daylight saving begins and ends in Paris."""
ORDINARY = datetime(2026, 6, 1, 12, 0, 3, tzinfo=UTC)
REDEPLOYS = 0.35
"""The share of the worlds in which processes start with newer code."""
SEPARATE_SLOTS = 0.3
"""The share of the worlds in which synchronous handlers have separate slots."""


class World:
    """One simulated fleet, determined by its seed."""

    def __init__(self, seed: int, kind: StoreKind = "memory") -> None:
        draw = random_for(seed, "world")
        on_sqlite = kind == "sqlite"
        apart = faults.has_separate_stores(seed) and not on_sqlite
        self.kinds = swarm(draw) - (CLOCKS if apart else frozenset())
        if on_sqlite:
            self.kinds = swarm_of_sqlite(self.kinds, random_for(seed, "faults of SQLite"))
        self._releases = random_for(seed, "releases")
        if self._releases.random() < REDEPLOYS and not apart:
            self.kinds |= {Fault.REDEPLOYS}
        self.kinds |= faults.quitting(quitters := random_for(seed, "quitters"))
        self._release = 0
        self.witness_faults = WitnessFaults(
            self, random_for(seed, "witnesses"), on_sqlite=on_sqlite, apart=apart
        )
        self.kinds = self.witness_faults.among(self.kinds)
        self.loop = VirtualLoop(random_for(seed, "order").random)
        changes = Fault.CLOCK_CHANGE in self.kinds
        start = draw.choice(STARTS) if changes else ORDINARY
        self.history = History(
            seed, start, kinds=frozenset(self.kinds), store=kind, separate_stores=apart
        )
        self.network = Network(self.loop, random_for(seed, "network"), self.history)
        self._seed = seed
        self._handlers = Handlers(self, random_for(seed, "handlers"), quitters)
        self._lock_users = LockUsers(self, random_for(seed, "guards"))
        self._rates = random_for(seed, "rates")
        self._conditions = conditions(self.kinds, draw)
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
        self.coordinator = FaultyCoordinator(coordinator.clock, f"world-{seed}")
        self.file_faults = FileFaults(self, random_for(seed, "killing"))
        self._file = (
            SqliteFile(self.loop, store.clock, seed, self.file_faults) if on_sqlite else None
        )
        self.history.folder = self._file.folder if self._file else ""
        memory = MemoryStore(store.clock)
        self.witness_faults.add_to(memory, self._file)
        self.store: Store = self._file.observer if self._file else memory
        self._stores: list[tuple[str, MemoryStore]] = []
        self.monitor = Monitor(self.history, lambda ids: run_step(self.store.jobs.get(ids)))
        self.network.on_executed = self._record_request
        self._environment = Environment(
            self.loop,
            self.network,
            memory,
            self.coordinator,
            store,
            coordinator,
            apart,
            self._file,
            queue=None if on_sqlite or apart else queue_of(store.clock, self.history, FAULTS_FOR),
            threads=1 if random_for(seed, "rooms").random() < SEPARATE_SLOTS else None,
        )
        self.machines = [
            Machine(f"n{number}", store.clock if on_sqlite else self._clock(start))
            for number in range(1, draw.choice((2, 3, 3, 4)) + 1)
        ]
        self.processes: list[Process] = []
        client = Process(
            Machine("client", store.clock if on_sqlite else self._clock(start)),
            self._environment,
            random_for(seed, "client"),
        )
        declare(client.app, self._handlers.of(client))
        self._client = Client(self, client, random_for(seed, "asking"))
        self._fault_injector = FaultInjector(self, random_for(seed, "faults"))
        self.loop.after_turn = self._note_belief

    def run(self) -> History:
        """Simulate the world from its start to its end."""
        silent = logging.getLogger("drumbeat")
        disabled, silent.disabled = silent.disabled, True
        collecting = gc.isenabled()
        gc.disable()  # finalisers of objects of a dead process must not run
        try:
            self.loop.run_until_complete(
                self.loop.start(self.loop.world_lane, self._run_world(), "world")
            )
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

    async def _run_world(self) -> None:
        for machine in self.machines:
            self._boot_in(self._rates.random(), machine)
        self.network.conditions = self._conditions
        self._client.begin()
        self._fault_injector.begin()
        self.witness_faults.begin()
        await self._sleep(FAULTS_FOR)
        self._heal()
        until = self.loop.time() + RECOVERS_FOR
        while self.loop.time() < until:
            await self._sleep(LOOK_EVERY)
            leaders = [each.name for each in self.processes if each.app.leadership.is_leader]
            self.history.leaders.append((self.loop.time(), leaders[0] if leaders else None))
        self.history.ended_at = self.loop.time()
        if self.history.separate_stores:
            self.history.dump = await dump_separate_stores(self._stores)
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
        self.log("world", "healed", "everything works from here on")
        self.network.conditions = NetworkConditions()
        self.network.cut.clear()
        self.coordinator.leases.lying = False
        self.file_faults.disk_is_full = False
        self.witness_faults.heal()
        for machine in self.machines:
            machine.clock.set_right()
        while self._down:
            self._boot(self._down.pop(0))
        for process in self.processes:
            for lane in process.lanes:
                self.loop.resume(lane)

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something later, whether or not its processes still live."""
        self.loop.call_later(seconds, act, context=self.loop.world_lane.context)

    def record_handler_step(self, step: HandlerStep) -> None:
        self.history.handler_steps.append(step)
        self.monitor.see(step)

    def record_lock_use(self, step: LockUse) -> None:
        self.history.lock_uses.append(step)
        self.monitor.see(step)

    def _record_request(self, step: ExecutedRequest) -> None:
        self.history.requests.append(step)
        self.monitor.see(step)

    def log(self, by: str, kind: str, text: str) -> None:
        """Add a line to the transcript."""
        self.history.log.append(LogEntry(self.loop.time(), by, kind, text))

    def crash(self, process: Process, restart_in: float = 0.5) -> None:
        """Kill a process and restart it on its machine."""
        if not process.alive:
            return
        self.log(process.name, "crash", f"killed; restarts in {restart_in:g} s")
        self.end_process(process, restart_in)

    def stop(self, process: Process) -> None:
        """Stop a process in an orderly pair and restart it."""
        self.log(process.name, "stop", "asked to stop")

        async def stop() -> None:
            try:
                await process.app.stop(grace=1.0)
            finally:
                if process.alive:
                    self.log(process.name, "stopped", "ended")
                    self.end_process(process, 0.5)

        self.loop.start(process.lane, stop(), "stop")

    def pause(self, process: Process, seconds: float, *, block_only: bool) -> None:
        """Suspend a process, or only its main loop, for a while."""
        lanes = (process.lane,) if block_only else process.lanes
        what = "its event loop is blocked" if block_only else "paused"
        self.log(process.name, "pause", f"{what} for {seconds:g} s")
        for lane in lanes:
            self._holds[lane] = self._holds.get(lane, 0) + 1
            self.loop.pause(lane)

        def resume() -> None:
            for lane in lanes:
                self._holds[lane] -= 1
                if self._holds[lane] == 0 and lane.paused:
                    self.loop.resume(lane)
            self.log(process.name, "resume", "continues")

        self.later(seconds, resume)

    def cut(self, pairs: list[tuple[str, str]], seconds: float) -> None:
        """Drop all messages between some pairs for a while."""
        shown = ", ".join(f"{source}->{target}" for source, target in pairs)
        self.log("network", "partition", f"{shown} cut for {seconds:g} s")
        for pair in pairs:
            self._cuts[pair] = self._cuts.get(pair, 0) + 1
            self.network.cut.add(pair)

        def heal() -> None:
            for pair in pairs:
                self._cuts[pair] -= 1
                if self._cuts[pair] == 0:
                    self.network.cut.discard(pair)

        self.later(seconds, heal)

    def lie(self, seconds: float) -> None:
        """Let the coordinator appoint every candidate, for a while."""
        self.log("coordinator", "lies", f"it appoints everybody for {seconds:g} s")
        self._lies += 1
        self.coordinator.leases.lying = True

        def stop_lying() -> None:
            self._lies -= 1
            self.coordinator.leases.lying = self._lies > 0 and not self.healed

        self.later(seconds, stop_lying)

    def _boot(self, machine: Machine) -> None:
        random = random_for(self._seed, f"{machine.name}.{machine.starts + 1}")
        process = Process(machine, self._environment, random)
        declare(process.app, self._handlers.of(process), self._newest_release())
        process.app.on(Event)(partial(self._record_event, process))
        if self._environment.separate_stores:
            self._stores.append((process.name, cast("MemoryStore", process.app.store)))
        self.processes.append(process)
        self.loop.start(process.lane, self._start(process), "start")

    def _newest_release(self) -> int:
        """The code release that a process starts with; some starts roll out a new one."""
        redeploys = Fault.REDEPLOYS in self.kinds and not self.healed
        if redeploys and self._releases.random() < 0.5:
            self._release += 1
            self.history.faults[Fault.REDEPLOYS] += 1
            self.log("world", "release", f"release {self._release} is rolled out")
        return self._release

    async def _start(self, process: Process) -> None:
        try:
            await process.start()
        except Exception as error:  # noqa: BLE001 - a process that fails to start ends and is restarted
            self.log(process.name, "failed start", str(error))
            self.end_process(process, 1.0)
            return
        if Fault.LOCKS in self.kinds:
            self.loop.start(process.lane, self._lock_users.use_lock(process), "guard")
        node = inside.node(process.app)
        if node is not None:
            await node.drain_requested.wait()
            self.stop(process)

    def end_process(self, process: Process, restart_in: float) -> None:
        """End a process at once and restart it on its machine."""
        if process not in self.processes:
            return
        process.kill()
        self.witness_faults.ended(process)
        self._lanes += process.lanes
        self.processes.remove(process)
        self._handlers.forget_process(process)
        self._boot_in(min(restart_in, 1.0) if self.healed else restart_in, process.machine)

    def _boot_in(self, seconds: float, machine: Machine) -> None:
        self._down.append(machine)

        def boot() -> None:
            if machine in self._down:  # the healing may have started it already
                self._down.remove(machine)
                self._boot(machine)

        self.later(seconds, boot)

    def _record_event(self, process: Process, event: Event) -> None:
        if process.alive and isinstance(event, LOGGED_EVENTS):
            self.log(process.name, type(event).__name__, description_of(event))
            if isinstance(event, NodeDraining):
                self.history.draining.setdefault(process.name, self.loop.time())

    def _note_belief(self, lane: Lane) -> None:
        step = new_belief(lane, self.processes, self.loop.time())
        if step is not None:
            self.history.beliefs.append(step)
            self.monitor.see(step)

    async def _sleep(self, seconds: float) -> None:
        woken = self.loop.create_future()
        self.loop.call_later(seconds, woken.set_result, None)
        await woken

    def _clock(self, start: datetime) -> ProcessClock:
        return ProcessClock(self.loop, start, 1.0 + DRIFT * (2 * self._rates.random() - 1))

    def _end(self) -> None:
        """Cancel all tasks, of living and dead processes, so that nothing leaks."""
        self.history = History(self._seed, self.history.start)  # nothing that follows is recorded
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
            self.loop.run_until_complete(
                self.loop.start(self.loop.world_lane, self._sleep(2.0), "end")
            )
        left = [task.get_name() for task in self.loop.tasks if not task.done()]
        if left:
            raise NotSimulated(f"these tasks cannot be cancelled: {left}")
