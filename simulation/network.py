"""The network: processes and servers exchange messages, which can be delayed, lost or repeated.

A request travels, is executed, and its answer travels back. Either message may be late, lost,
repeated or overtaken. The caller gives up after a time-out with `Unavailable` and cannot know
whether the request was executed or still will be: a late request is executed long after its sender
gave up or died.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from drumbeat.model.errors import Unavailable
from simulation.chance import Random
from simulation.clock import ProcessClock
from simulation.history import Applied, History
from simulation.loop import LANE, Lane, VirtualLoop

SWIFT = 0.002
"""Longest time in seconds that a message takes without a fault."""
WRITES = frozenset(
    {"commit", "put", "insert", "take", "settle", "reap", "claim", "acquire", "renew"}
)


@dataclass(slots=True)
class Weather:
    """Which shares of all messages are lost, delayed and repeated."""

    loss: float = 0.0
    delay: float = 0.0
    longest_delay: float = 0.0
    doubling: float = 0.0


@dataclass(eq=False, slots=True)
class Server:
    """Executes requests, one at a time, each as one atomic step."""

    name: str
    lane: Lane
    clock: ProcessClock


@dataclass(frozen=True, slots=True)
class Call:
    """A request: what to do where, and how it is called in the history."""

    server: Server
    name: str
    method: Callable[..., Coroutine[Any, Any, Any]]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sender:
    """Who asks: a start of a process, and the machine that it runs on."""

    process: str
    machine: str
    lane: Lane


class Network:
    """Carries messages between machines."""

    def __init__(self, loop: VirtualLoop, random: Random, history: History) -> None:
        self._loop = loop
        self._random = random
        self._history = history
        self.weather = Weather()
        self.cut: set[tuple[str, str]] = set()
        """Ways, as pairs of machines, on which nothing passes."""
        self._over = False
        self.on_applied: Callable[[Applied], None] = history.applied.append
        """Called for each request that a server has carried out."""
        self.messages = 0

    def close(self) -> None:
        """End the world: all requests fail at once, and no message arrives any more."""
        self._over = True

    async def ask(self, sender: Sender, call: Call) -> Any:
        """Send a request and wait for its answer; `Unavailable` if none comes."""
        if self._over:
            raise Unavailable("the world has ended")
        answer: asyncio.Future[Any] = self._loop.create_future()
        lane = LANE.get()
        here = lane.context

        def arrive() -> None:
            result, error = self._carry_out(sender, call)

            def tell() -> None:
                if answer.done():
                    return
                if error is not None:
                    answer.set_exception(error)
                else:
                    answer.set_result(result)

            passed = self.send(call.server.name, sender.machine, tell, here)
            if not passed and call.name in WRITES and error is None:
                self._history.noted[f"the answer to a {call.name} was lost"] += 1

        def give_up() -> None:
            if not answer.done():
                answer.set_exception(Unavailable(f"{call.server.name}: no answer to {call.name}"))

        passed = self.send(sender.machine, call.server.name, arrive, call.server.lane.context)
        patience = self._loop.call_later(self._patience(passed=passed), give_up, context=here)
        try:
            return await answer
        finally:
            patience.cancel()

    def send(
        self, source: str, target: str, deliver: Callable[[], None], context: contextvars.Context
    ) -> bool:
        """Send a message. False: it is lost for sure."""
        weather, draw = self.weather, self._random.random
        self.messages += 1
        if (source, target) in self.cut:
            return False
        if weather.loss and draw() < weather.loss:
            self._history.faults["message lost"] += 1
            return False

        def arrive() -> None:
            if (source, target) not in self.cut and not self._over:
                deliver()

        self._loop.call_later(self._time(), arrive, context=context)
        if weather.doubling and draw() < weather.doubling:
            self._history.faults["message doubled"] += 1
            self._loop.call_later(self._time(), arrive, context=context)
        return True

    def _time(self) -> float:
        weather = self.weather
        if weather.delay and self._random.random() < weather.delay:
            self._history.faults["message delayed"] += 1
            return self._random.random() ** 2 * weather.longest_delay
        return self._random.random() * SWIFT

    def _patience(self, *, passed: bool) -> float:
        """A refused connection is noticed soon, a silent one late."""
        if not passed and self._random.random() < 0.5:
            return 0.01 + self._random.random() * 0.2
        return 1.0 + self._random.random() * 1.5

    def _carry_out(self, sender: Sender, call: Call) -> tuple[Any, Exception | None]:
        result: Any = None
        error: Exception | None = None
        try:
            result = driven(call.method(*call.arguments, **call.keywords))
        except Exception as raised:  # noqa: BLE001 - it is the answer
            error = raised
        self.on_applied(
            Applied(
                self._loop.time(),
                call.server.clock.elapsed(),
                sender.process,
                call.server.name,
                call.name,
                call.arguments,
                result,
                error,
                not sender.lane.dead,
            )
        )
        return result, error


def driven(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits: what a server does is one step."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise AssertionError("a server's step must not wait")
