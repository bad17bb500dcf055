"""WitnessKeeper: holds the witness of this node for as long as its process lives.

It runs in a thread of its own, as the elector does and for the same reason: code that blocks the
event loop must not look like death. It publishes one immutable state, replaced in a single
assignment, so that any thread can judge by it at any time.

A node draws its number once, and keeps it: the row of the node in the store names it, and a delayed
heartbeat must not name one that somebody else may take. If the session of the witness ends, the
keeper takes the same number again in a new one, and the node sends a heartbeat at once. A node that
cannot take it again does not lead meanwhile, since others see its number free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import Event, WitnessLost, WitnessTaken
from drumbeat.model.ids import NodeId
from drumbeat.ports.runtime import Isolated, Runtime
from drumbeat.ports.witness import Witness, Witnesses
from drumbeat.rules.leadership import witness_trust
from drumbeat.rules.leadership.witness_trust import (
    Held,
    Released,
    Unwitnessed,
    WitnessState,
    WitnessTimings,
)

BITS = 31
"""Of the number of a witness."""
DRAWS = 10
"""How many numbers to try: two nodes hardly ever draw the same."""
FIRST_TAKE = 2.0
"""Seconds that the start of a node waits for its witness; it starts without one after that."""
TAKING = 5.0
"""Seconds that a session has to take the number."""
SHORTEST_PAUSE = 0.1
LONGEST_PAUSE = 1.0
"""Seconds between two tries to take the number; the first try after a loss comes at once."""


class WitnessKeeper:
    """Holds and proves the witness of one node."""

    def __init__(self, node: NodeId, witnesses: Witnesses, runtime: Runtime, bus: Bus) -> None:
        self.timings = WitnessTimings()
        self._node = node
        self.witnesses = witnesses
        self._runtime = runtime
        self._clock = runtime.clock
        self._bus = bus
        self._state: WitnessState = Unwitnessed()
        self._wake = WakeUp(self._clock)
        self._tried = WakeUp(self._clock)
        self._isolated: Isolated | None = None
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._leading = False
        self._awaited = False
        self._stopping = False
        self._failures = 0
        self.lost_at = -inf
        """When the other side ended the session last, by elapsed time."""

    @property
    def number(self) -> int | None:
        """The number for the row of the node; None: it has never held one."""
        state = self._state
        return None if isinstance(state, Unwitnessed) else state.number

    @property
    def missing(self) -> bool:
        """Whether others see the number free, although this node lives."""
        return isinstance(self._state, Released)

    @property
    def turn(self) -> int:
        """By what a term is judged that begins now."""
        return witness_trust.turn_of(self._state)

    def may_act(self, turn: int) -> bool:
        """Whether a leader may trust a term that began in this turn. From any thread."""
        return witness_trust.may_act(self._state, turn, self._clock.elapsed(), self.timings)

    def is_over(self, turn: int) -> str | None:
        """Why a term that began in this turn has to be given up; None: it has not."""
        return witness_trust.is_over(self._state, turn)

    def is_ready(self) -> bool:
        """Whether a term may begin. If not, listeners are called as soon as there is a proof."""
        state, now = self._state, self._clock.elapsed()
        if isinstance(state, Unwitnessed):
            return True
        if isinstance(state, Held) and now < state.proved_at + self.timings.prove_every:
            return True
        self._awaited = True
        self._wake_up()
        return False

    def lead(self, *, leading: bool) -> None:
        """From now on, prove the witness as often as a leader has to, or no more."""
        self._leading = leading
        if leading:
            self._wake_up()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call the listener, in any thread, when the witness is taken, lost or proved on demand."""
        self._listeners += (listener,)

    async def start(self) -> None:
        """Take the witness, if that does not take long; else go on trying."""
        self._isolated = self._runtime.spawn_isolated("drumbeat-witness", self._run)
        await self._tried.wait(FIRST_TAKE)

    async def stop(self) -> None:
        """Free the witness."""
        if self._isolated is None:
            return
        self._stopping = True
        self._wake_up()
        try:
            async with timeout_after(self._clock, self.timings.proof_timeout + 1):
                await self._isolated.ended()
        except TimeoutError:  # the store does not answer
            self._isolated.cancel()
            await self._isolated.ended()
        self._isolated = None

    def _wake_up(self) -> None:
        if self._isolated is not None:
            self._isolated.call_inside(self._wake.set)

    async def _run(self, isolated: Isolated) -> None:
        while not self._stopping:
            session = self.witnesses.session(self._wake.set)
            try:
                await self._hold(session, isolated)
            except Exception as error:  # noqa: BLE001 - after any error there is a new session
                self._lose(error, isolated)
            finally:
                await _close(session)
            if self._failures:
                await self._wake.wait(self._pause_after(self._failures))

    async def _hold(self, session: Witness, isolated: Isolated) -> None:
        """Take the witness and prove it until the session ends, which raises."""
        taken_at = self._clock.elapsed()
        async with timeout_after(self._clock, TAKING):
            number = await self._take(session)
        turn = 0 if isinstance(self._state, Unwitnessed) else self._state.turn
        self._state = held = Held(number, turn + 1, taken_at)
        self._failures = 0
        self._change(isolated, WitnessTaken(self._node, number))
        while not self._stopping:
            await self._wake.wait(self._pause_until(held))
            if self._stopping:
                return
            asked_at = self._clock.elapsed()
            async with timeout_after(self._clock, self.timings.proof_timeout):
                await session.prove()
            self._state = held = replace(held, proved_at=asked_at)
            if self._awaited:
                self._awaited = False
                self._notify()

    async def _take(self, session: Witness) -> int:
        for _ in range(DRAWS):
            number = self.number or self._runtime.random.getrandbits(BITS) or 1
            if await session.take(number):
                return number
        raise Unavailable("the number of its witness is held by another session")

    def _lose(self, error: Exception, isolated: Isolated) -> None:
        self._failures += 1
        state = self._state
        if isinstance(state, Held):
            now = self._clock.elapsed()
            if not isinstance(error, TimeoutError):  # a slow machine says nothing of the server
                self.lost_at = now
            self._state = Released(state.number, state.turn, now, str(error))
            self._failures = 0  # the first try to take it again comes at once
            self._change(isolated, WitnessLost(self._node, error))
        elif isinstance(state, Unwitnessed) and self._failures == 1:
            self._change(isolated, WitnessLost(self._node, error, held=False))

    def _change(self, isolated: Isolated, event: Event) -> None:
        isolated.call_home(lambda: self._bus.emit(event))
        isolated.call_home(self._tried.set)
        self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _pause_until(self, held: Held) -> float:
        """Until the next proof."""
        if self._awaited:
            return 0.0
        every = self.timings.prove_every if self._leading else self.timings.idle_every
        return max(0.0, held.proved_at + every - self._clock.elapsed())

    def _pause_after(self, failures: int) -> float:
        longest = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(failures, 10))
        return longest * (0.5 + self._runtime.random.random() / 2)


async def _close(session: Witness) -> None:
    try:
        await session.close()
    except Exception:  # noqa: BLE001 - it is over in any case
        return
