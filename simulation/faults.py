"""The faults of a simulated world, and when they occur.

Each seed uses only some of the kinds (swarm testing): severe faults would hide what subtle ones
find.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from simulation.network import NetworkConditions
from simulation.process import LEASE_TTL, Process
from simulation.randomness import Random, random_for

if TYPE_CHECKING:
    from simulation.world import World

LONGEST_DELAYS = (0.3, 2.0, 8.0)
"""Seconds that a delayed message may take; each world uses one of these."""


class Fault(StrEnum):
    """A kind of fault."""

    CRASH = "crash"
    """A process is killed and restarted."""
    STOP = "stop"
    """A process is stopped in an orderly way and restarted."""
    PAUSE = "pause"
    """A process is suspended and resumed, as by SIGSTOP and SIGCONT."""
    BLOCK = "block"
    """The event loop of a process is blocked; its elector continues."""
    PARTITION = "partition"
    """A machine and a server cannot reach each other."""
    ONE_WAY = "one-way partition"
    """Messages pass in one direction only."""
    STORE_OUTAGE = "store outage"
    COORDINATOR_OUTAGE = "coordinator outage"
    BLACKOUT = "blackout"
    """Every process is killed; the restart may come later than the misfire threshold."""
    LOSS = "loss"
    DELAY = "delay"
    DOUBLING = "doubling"
    SKEW = "clock jump"
    """The wall clock of a machine jumps."""
    DRIFT = "clock drift"
    """A machine counts time faster or slower than the leases allow for."""
    LIES = "lying coordinator"
    """The coordinator appoints several leaders at once."""
    FORGETTING = "coordinator restarted empty"
    EDITS = "edit"
    """Schedules are edited, paused, resumed and removed while they fire."""
    CANCELS = "cancellation"
    """Jobs are cancelled while they wait and while they run."""
    BAD_HANDLERS = "bad handler"
    """Handlers fail, hang, snooze and cancel."""
    KILLERS = "killing handler"
    """Handlers kill the process that runs them."""
    CLOCK_CHANGE = "daylight saving"
    """Summer time begins or ends during the faults."""
    LOCKS = "lock"
    """Processes work under a lock of the fleet."""
    DRAINS = "drain"
    """A person asks a node to finish its work and stop."""
    RESIGNS = "resignation"
    """A person asks the leader to resign, or the leader does so voluntarily."""
    BACKFILLS = "backfill"
    """Past ticks are fired by hand, including ticks that are due and not yet fired."""
    REDEPLOYS = "redeployment"
    """Processes start with newer code that defines some schedules differently."""
    QUITTERS = "quitting handler"
    """Handlers end by themselves because their node stops, and some say that they have finished."""
    FULL_DISK = "full disk"
    """For a while SQLite cannot allocate pages."""
    WITNESS_CUT = "witness cut"
    """The session of a witness ends although its process lives; on SQLite, the file is deleted."""
    WITNESS_LATE = "witness freed late"
    """The session of a dead process ends late, or never."""
    WITNESS_LIES = "lying witness"
    """The store says of every node that its witness is free."""
    KILLED_WRITING = "killed within a transaction"
    """A process dies before the COMMIT of a SQLite transaction."""

    TICKETS = "lost, repeated and mixed tickets"
    """The queue loses tickets, delivers some twice, and changes their order."""
    QUEUE_OUTAGE = "queue outage"
    QUEUE_EMPTIED = "queue restarted empty"


OF_QUEUES = frozenset({Fault.TICKETS, Fault.QUEUE_OUTAGE, Fault.QUEUE_EMPTIED})
"""Faults of the worlds with a queue in front of the store."""
SHARE_OF_QUEUES = 0.3
"""The share of the worlds with such a queue."""
SHARE_OF_QUEUE_FAULTS = 0.6
"""The share of these that have each of its faults."""


def of_queues(random: Random) -> frozenset[Fault]:
    """The faults of the queue of one world."""
    return frozenset(each for each in sorted(OF_QUEUES) if random.random() < SHARE_OF_QUEUE_FAULTS)


CLOCKS = frozenset({Fault.SKEW, Fault.DRIFT})
"""Nodes with separate stores agree only by their clocks, so these have to be right."""

OF_SQLITE = frozenset({Fault.FULL_DISK, Fault.KILLED_WRITING})
OF_WITNESSES = frozenset({Fault.WITNESS_CUT, Fault.WITNESS_LATE, Fault.WITNESS_LIES})
"""Drawn apart, in worlds whose store has witnesses."""
NOT_WHEN_CALM = CLOCKS | {
    *(Fault.PARTITION, Fault.ONE_WAY, Fault.STORE_OUTAGE, Fault.LOSS, Fault.DELAY),
    *(Fault.LIES, Fault.FORGETTING, Fault.WITNESS_LIES),
}
"""Faults by which a process cannot know that it has to stop."""
NOT_ON_SQLITE = CLOCKS | {Fault.DOUBLING, Fault.LIES, Fault.FORGETTING}
"""Faults that cannot occur among processes that share one machine, its clock and one file."""
SHARE_OF_SQLITE = 0.4
"""The share of SQLite worlds that have each of SQLite's own faults."""


SHARE_OF_QUITTERS = 0.3
"""The share of the worlds in which handlers end by themselves when their node stops."""


SEPARATE_STORES = 0.1
"""The share of the worlds in which each node has its own store: the in-process mode."""


def has_separate_stores(seed: int) -> bool:
    return random_for(seed, "mode").random() < SEPARATE_STORES


def quitting(random: Random) -> frozenset[Fault]:
    """`QUITTERS`, in some worlds."""
    return frozenset({Fault.QUITTERS} if random.random() < SHARE_OF_QUITTERS else ())


def swarm(random: Random) -> frozenset[Fault]:
    """The kinds of faults of one world: a random subset."""
    share = random.choice((0.15, 0.3, 0.5))
    drawn_apart = OF_SQLITE | OF_QUEUES | OF_WITNESSES | {Fault.REDEPLOYS, Fault.QUITTERS}
    kinds = (fault for fault in Fault if fault not in drawn_apart)
    return frozenset(fault for fault in kinds if random.random() < share)


def swarm_of_sqlite(kinds: frozenset[Fault], random: Random) -> frozenset[Fault]:
    """The kinds of a SQLite world: those that can occur there, and some of SQLite's own."""
    own = (fault for fault in sorted(OF_SQLITE) if random.random() < SHARE_OF_SQLITE)
    return (kinds - NOT_ON_SQLITE) | frozenset(own)


def conditions(kinds: frozenset[Fault], random: Random) -> NetworkConditions:
    """The network conditions while the faults last."""
    severity = random.random()
    return NetworkConditions(
        loss=0.01 + severity * 0.08 if Fault.LOSS in kinds else 0.0,
        delay=0.02 + severity * 0.15 if Fault.DELAY in kinds else 0.0,
        longest_delay=random.choice(LONGEST_DELAYS),
        doubling=0.02 + severity * 0.1 if Fault.DOUBLING in kinds else 0.0,
    )


class FaultInjector:
    """Injects faults at random times until the world is healed."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        acts: dict[Fault, Callable[[], None]] = {
            Fault.CRASH: self._crash,
            Fault.STOP: self._stop,
            Fault.PAUSE: self._pause,
            Fault.BLOCK: self._block,
            Fault.PARTITION: self._partition,
            Fault.ONE_WAY: self._one_way,
            Fault.STORE_OUTAGE: lambda: self._outage("store"),
            Fault.COORDINATOR_OUTAGE: lambda: self._outage("coordinator"),
            Fault.BLACKOUT: self._blackout,
            Fault.SKEW: self._skew,
            Fault.DRIFT: self._drift,
            Fault.LIES: self._lie,
            Fault.FORGETTING: self._forget,
            Fault.RESIGNS: self._resign,
            Fault.FULL_DISK: self._fill_disk,
            Fault.WITNESS_LIES: world.witness_faults.lie,
        }
        self._acts = [(kind, act) for kind, act in acts.items() if kind in world.kinds]

    def begin(self) -> None:
        if self._acts:
            self._later(self._random.random() * 4, self._act)

    def _act(self) -> None:
        if self._world.healed:
            return
        kind, act = self._random.choice(self._acts)
        self._world.history.faults[kind] += 1
        act()
        self._later(0.3 + self._random.expovariate(0.35), self._act)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._world.later(seconds, act)

    def _victim(self) -> Process | None:
        """A random process, preferably the leader."""
        processes = self._world.processes
        leaders = [each for each in processes if each.app.leadership.is_leader]
        if leaders and self._random.random() < 0.6:
            return self._random.choice(leaders)
        return self._random.choice(processes) if processes else None

    def _crash(self) -> None:
        victim = self._victim()
        if victim is not None:
            self._world.crash(victim, restart_in=self._random.choice((0.1, 2.0, 6.0)))

    def _stop(self) -> None:
        victim = self._victim()
        if victim is not None:
            self._world.stop(victim)

    def _pause(self) -> None:
        self._pause_victim(block_only=False)

    def _block(self) -> None:
        self._pause_victim(block_only=True)

    def _pause_victim(self, *, block_only: bool) -> None:
        victim = self._victim()
        if victim is not None:
            seconds = LEASE_TTL * self._random.choice((0.3, 0.9, 1.2, 3.0, 5.0))
            self._world.pause(victim, seconds, block_only=block_only)

    def _partition(self) -> None:
        machine, server = self._pair()
        self._cut([(machine, server), (server, machine)])

    def _one_way(self) -> None:
        machine, server = self._pair()
        way = (machine, server) if self._random.random() < 0.5 else (server, machine)
        self._cut([way])

    def _outage(self, server: str) -> None:
        machines = [machine.name for machine in self._world.machines]
        ways = [(machine, server) for machine in (*machines, "client")]
        self._cut(ways + [(server, machine) for machine, server in ways])

    def _pair(self) -> tuple[str, str]:
        victim = self._victim()
        machine = victim.machine if victim else self._random.choice(self._world.machines)
        return machine.name, self._random.choice(("store", "coordinator"))

    def _cut(self, ways: list[tuple[str, str]]) -> None:
        seconds = self._random.choice((0.5, 2.0, 5.0, 18.0))
        self._world.cut(ways, seconds)

    def _blackout(self) -> None:
        back_in = self._random.choice((3.0, 17.0))
        self._world.log("world", "blackout", f"every process is killed for {back_in:g} s")
        for process in tuple(self._world.processes):
            self._world.crash(process, restart_in=back_in + self._random.random())

    def _skew(self) -> None:
        machine = self._random.choice(self._world.machines)
        by = self._random.choice((-3600.0, -60.0, -4.0, -1.0, 0.0, 1.0, 4.0, 60.0, 3600.0))
        machine.clock.ahead = by
        self._world.log(machine.name, "clock", f"its wall clock is now {by:+g} s wrong")

    def _drift(self) -> None:
        machine = self._random.choice(self._world.machines)
        rate = self._random.choice((0.5, 0.8, 1.0, 1.25, 2.0))
        machine.clock.change_rate(rate)
        self._world.log(machine.name, "clock", f"it counts {rate:g} s in a second")

    def _lie(self) -> None:
        self._world.lie(self._random.choice((1.0, 4.0, 10.0)))

    def _forget(self) -> None:
        self._world.log("coordinator", "forgets", "restarted empty")
        self._world.coordinator.leases.forget()

    def _fill_disk(self) -> None:
        self._world.file_faults.fill_disk(self._random.choice((0.5, 3.0, 8.0)))

    def _resign(self) -> None:
        for process in self._world.processes:
            if process.app.leadership.is_leader:
                self._world.log(process.name, "resign", "resigns voluntarily")
                process.lane.context.copy().run(process.app.leadership.resign)
