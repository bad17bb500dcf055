"""The faults of witnesses: cut while the holder lives, freed late or never, and a lying store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.sqlite.connection.witness_file import FileWitness
from simulation.faults import NOT_WHEN_CALM, OF_WITNESSES, Fault
from simulation.randomness import Random
from simulation.remote_witnesses import FaultyWitnesses
from simulation.sqlite import SqliteFile

if TYPE_CHECKING:
    from simulation.process import Process
    from simulation.world import World

SHARE = 0.5
"""The share of the worlds whose store has witnesses."""
SHARE_OF_FAULTS = {Fault.WITNESS_CUT: 0.6, Fault.WITNESS_LATE: 0.4, Fault.WITNESS_LIES: 0.25}
"""The share of these worlds that have each of the faults."""
SHARE_OF_CALM = 0.5
"""The share of the worlds with cuts in which everything is reached and tells the truth: with a
network that fails as well, a holder that lives cannot always show it."""
CUT_EVERY = 2.5
"""Seconds between two cuts, on average."""
DELAYS = (0.5, 3.0, None)
"""Seconds from a death to the end of its session, if that is late; None: it never ends."""
LIES = (0.5, 2.0, 6.0)


class WitnessFaults:
    """Ends the sessions of witnesses, at the right moment or at a wrong one."""

    def __init__(self, world: World, random: Random, *, on_sqlite: bool, apart: bool) -> None:
        self._world = world
        self._random = random
        self.enabled = random.random() < SHARE and not apart
        """Whether the store of this world has witnesses."""
        possible = {Fault.WITNESS_CUT} if on_sqlite else OF_WITNESSES
        drawn = {kind for kind in sorted(OF_WITNESSES) if random.random() < SHARE_OF_FAULTS[kind]}
        self._kinds = frozenset(drawn & possible if self.enabled else ())
        self._calm = random.random() < SHARE_OF_CALM
        self._faulty: FaultyWitnesses | None = None
        self._lies = 0

    def among(self, kinds: frozenset[Fault]) -> frozenset[Fault]:
        """All faults of the world: its own, and those of its witnesses."""
        calm = self._calm and Fault.WITNESS_CUT in self._kinds
        return (kinds - NOT_WHEN_CALM if calm else kinds) | self._kinds

    def begin(self) -> None:
        """Cut sessions again and again, if this world has that fault."""
        if Fault.WITNESS_CUT in self._world.kinds:
            self._cut_later()

    def _cut_later(self) -> None:
        self._world.later(0.2 + self._random.expovariate(1 / CUT_EVERY), self._cut)

    def _cut(self) -> None:
        if not self._world.healed:
            self._world.history.faults[Fault.WITNESS_CUT] += 1
            self._cut_one()
            self._cut_later()

    def add_to(self, store: MemoryStore, file: SqliteFile | None) -> None:
        """Give a store in memory its witnesses, in a world that has some; a file has them."""
        if file is not None:
            file.witnessed = self.enabled
        elif self.enabled:
            store.witnesses = self._faulty = FaultyWitnesses(store.nodes)

    def ended(self, process: Process) -> None:
        """End the sessions of a process that has died."""
        late = Fault.WITNESS_LATE in self._world.kinds and not self._world.healed
        delay = self._random.choice(DELAYS) if late else 0.0
        if late and process.witness_sessions:
            self._world.history.faults[Fault.WITNESS_LATE] += 1
        for session in process.witness_sessions:
            if isinstance(session, FileWitness):
                session.free()  # by the kernel
            elif delay is not None:
                self._world.later(delay, session.cut)

    def _cut_one(self) -> None:
        """End the session of a living process, preferably the leader; it may or may not be told."""
        processes = [each for each in self._world.processes if each.witness_sessions]
        leaders = [each for each in processes if each.app.leadership.is_leader]
        if not processes:
            return
        often = leaders if leaders and self._random.random() < 0.6 else processes
        process = self._random.choice(often)
        session = process.witness_sessions[-1]
        told = self._random.random() < 0.5
        self._world.log(process.name, "witness", f"its session is cut, {told=}")
        if isinstance(session, FileWitness):
            session.file.path.unlink(missing_ok=True)
        elif told:
            session.lose()
        else:
            session.cut()

    def lie(self) -> None:
        """Let the store say for a while that every number is free."""
        if self._faulty is None:
            return
        seconds = self._random.choice(LIES)
        self._world.log("store", "lies", f"every witness is free for {seconds:g} s")
        self._lies += 1
        self._faulty.lying = True
        self._world.later(seconds, self._stop_lying)

    def heal(self) -> None:
        """Tell the truth from now on."""
        if self._faulty is not None:
            self._faulty.lying = False

    def _stop_lying(self) -> None:
        self._lies -= 1
        if self._faulty is not None:
            self._faulty.lying = self._lies > 0 and not self._world.healed
