"""The simulated network: messages between processes and servers can be delayed, lost or duplicated.

A request travels, is executed, and its answer travels back. Either message may be late, lost,
duplicated or reordered. The caller gives up after a time-out with `Unavailable` and cannot know
whether the request was or will be executed: a late request is executed even after its sender gave
up or died.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from drumbeat.model.errors import Unavailable
from simulation.clock import ProcessClock
from simulation.history import ExecutedRequest, History
from simulation.loop import LANE, Lane, VirtualLoop
from simulation.randomness import Random

LONGEST_TRANSIT = 0.002
"""The longest time in seconds that a message takes without a fault."""
WRITES = frozenset(
    {"commit", "put", "insert", "take", "settle", "reap", "claim", "acquire", "renew", "evict"}
)


@dataclass(slots=True)
class NetworkConditions:
    """The shares of messages that are lost, delayed and duplicated."""

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
    """A request: the method to call on a server, and its name in the history."""

    server: Server
    name: str
    method: Callable[..., Coroutine[Any, Any, Any]]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of a request: a process, its machine and its lane."""

    process: str
    machine: str
    lane: Lane


class Network:
    """Delivers messages between machines."""

    def __init__(self, loop: VirtualLoop, random: Random, history: History) -> None:
        self._loop = loop
        self._random = random
        self._history = history
        self.conditions = NetworkConditions()
        self.cut: set[tuple[str, str]] = set()
        """Pairs of source and target between which nothing passes."""
        self._over = False
        self.on_executed: Callable[[ExecutedRequest], None] = history.requests.append
        """Called for each request that a server has executed."""
        self.messages = 0

    def close(self) -> None:
        """End the world: all requests fail at once, and no message is delivered any more."""
        self._over = True

    async def ask(self, sender: Sender, call: Call) -> Any:
        """Send a request and wait for its answer; raise `Unavailable` if none comes."""
        if self._over:
            raise Unavailable("the world has ended")
        answer: asyncio.Future[Any] = self._loop.create_future()
        lane = LANE.get()
        here = lane.context

        def arrive() -> None:
            result, error = self._execute(sender, call)

            def reply() -> None:
                if answer.done():
                    return
                if error is not None:
                    answer.set_exception(error)
                else:
                    answer.set_result(result)

            passed = self.send(call.server.name, sender.machine, reply, here)
            if not passed and call.name in WRITES and error is None:
                self._history.rare_events[f"the answer to a {call.name} was lost"] += 1

        def give_up() -> None:
            if not answer.done():
                answer.set_exception(Unavailable(f"{call.server.name}: no answer to {call.name}"))

        passed = self.send(sender.machine, call.server.name, arrive, call.server.lane.context)
        time_out = self._loop.call_later(self._time_out(passed=passed), give_up, context=here)
        try:
            return await answer
        finally:
            time_out.cancel()

    def send(
        self, source: str, target: str, deliver: Callable[[], None], context: contextvars.Context
    ) -> bool:
        """Send a message. False if it was certainly lost."""
        conditions, draw = self.conditions, self._random.random
        self.messages += 1
        if (source, target) in self.cut:
            return False
        if conditions.loss and draw() < conditions.loss:
            self._history.faults["message lost"] += 1
            return False

        def arrive() -> None:
            if (source, target) not in self.cut and not self._over:
                deliver()

        self._loop.call_later(self._time(), arrive, context=context)
        if conditions.doubling and draw() < conditions.doubling:
            self._history.faults["message doubled"] += 1
            self._loop.call_later(self._time(), arrive, context=context)
        return True

    def _time(self) -> float:
        conditions = self.conditions
        if conditions.delay and self._random.random() < conditions.delay:
            self._history.faults["message delayed"] += 1
            return self._random.random() ** 2 * conditions.longest_delay
        return self._random.random() * LONGEST_TRANSIT

    def _time_out(self, *, passed: bool) -> float:
        """A refused connection is noticed early, a silent one late."""
        if not passed and self._random.random() < 0.5:
            return 0.01 + self._random.random() * 0.2
        return 1.0 + self._random.random() * 1.5

    def _execute(self, sender: Sender, call: Call) -> tuple[Any, Exception | None]:
        result: Any = None
        error: Exception | None = None
        try:
            result = run_step(call.method(*call.arguments, **call.keywords))
        except Exception as raised:  # noqa: BLE001 - the error is the answer
            error = raised
        self.on_executed(
            ExecutedRequest(
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


def run_step(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits, and return its result: a server's call is one step."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise AssertionError("a server's step must not wait")
