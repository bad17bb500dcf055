"""Processes: where handlers with `process=True` run, each call alone in a child of its own.

A child that dies takes down nothing but its own attempt, and one whose attempt is over is killed,
which is the only way to end code that does not listen. Children are started fresh (never forked
from a process with threads), and end by themselves when their parent does.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeAlias

from drumbeat.engine.codec import Unstorable
from drumbeat.engine.run import Run
from drumbeat.engine.threads import Threads
from drumbeat.model.ending import Ending, Raised
from drumbeat.model.job import Attempt, Progress


@dataclass(frozen=True, slots=True)
class Call:
    """To the child: run this function for this attempt."""

    module: str
    function: str
    attempt: Attempt
    epoch: int | None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """To the child: the call should end."""

    reason: str


@dataclass(frozen=True, slots=True)
class Alive:
    """From the child: the call goes on."""


Message: TypeAlias = Ending | Unstorable | Progress | Alive
"""From the child: how far it has come, and at last how it ended."""


class Child:
    """One child process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs,), name="drumbeat-handler", daemon=True
        )
        self._process.start()
        theirs.close()

    def send(self, message: Call | Interrupt) -> None:
        """Tell the child; one that has died is noticed by `receive`."""
        with contextlib.suppress(OSError):
            self._pipe.send(message)

    def receive(self) -> Message:
        """Wait for the child; `EOFError` if it has died."""
        message: Message = self._pipe.recv()
        return message

    def end(self) -> int | None:
        """Kill the child and return its exit code; one that was ending anyway keeps its own.

        Our end of the pipe is closed by whoever lets go of it last: a thread may be about to read
        from it, and must not find another file under its number.
        """
        self._process.kill()
        self._process.join()
        return self._process.exitcode

    def died_with(self) -> int | None:
        """The exit code of a child whose pipe has closed."""
        self._process.join(1.0)
        return self.end()


def _serve(pipe: Connection) -> None:
    from drumbeat.engine.child import serve  # noqa: PLC0415 - imported in the child only

    serve(pipe)


class Processes:
    """At most so many children; idle ones are kept for the next call."""

    def __init__(self, limit: int, threads: Threads) -> None:
        self._room = asyncio.Semaphore(limit)
        self._threads = threads
        self._idle: list[Child] = []

    async def call(self, run: Run) -> Ending | Unstorable:
        """Run the handler in a child to its end. Waiting for a child is not running."""
        run.put_off()
        async with self._room:
            child = await self._child()
            run.start()
            try:
                ending = await self._converse(child, run)
            except (EOFError, OSError):
                return Raised(f"its process died with exit code {child.died_with()}")
            except BaseException:
                child.end()
                raise
            self._idle.append(child)
            return ending

    def close(self) -> None:
        """End the idle children."""
        while self._idle:
            self._idle.pop().end()

    async def _child(self) -> Child:
        if self._idle:
            return self._idle.pop()
        starting = self._threads.call(Child)
        try:
            child: Child = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_end)  # nobody else will ever know of it
            raise
        return child

    async def _converse(self, child: Child, run: Run) -> Ending | Unstorable:
        handler = run.definition.handler
        run.on_interrupt = lambda reason: child.send(Interrupt(reason))
        child.send(Call(handler.__module__, handler.__qualname__, run.attempt, run.context.epoch))
        try:
            while True:
                message: Message = await self._threads.call(child.receive)
                match message:
                    case Alive():
                        run.context.heartbeat()
                    case Progress():
                        run.context.progress(message.done, message.total, message.message)
                    case _:
                        return message
        finally:
            run.on_interrupt = None


def _end(starting: asyncio.Future[Child]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        starting.result().end()
