"""The writer: one thread through which all changes of this process go, in batches.

There is no timer and no batch size to wait for. When the thread is free it takes every call that
waits, runs them in one transaction (`transactions.py`), commits once, and only then resolves them
all. A lone caller is served at once; under load the batches grow by themselves. Calls that are made
in the same turn of an event loop are handed over together, at its end: otherwise the first of a
hundred would get a commit of its own. Consecutive calls of the same step become one (`join`), and
are run singly only if that fails.

Cancelling a caller that waits does not cancel its step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread, local
from typing import Generic, TypeVar

from drumbeat.backends.sqlite.connection.calls import (
    Call,
    DeferredResult,
    JoinedCalls,
    UnsyncedCall,
    build_and_resolve,
    in_parts,
    resolve_all,
)
from drumbeat.backends.sqlite.connection.transactions import S, Transactions
from drumbeat.model.errors import Unavailable

LARGEST_BATCH = 1_000
"""Calls in one transaction: with more, the last ones would wait for long."""
SYNC_WITHIN = 0.05
"""Seconds after which a commit that did not wait for the disk is brought there, if none follows."""

T = TypeVar("T")
Request = TypeVar("Request")


class _Turn(local, Generic[S]):
    """The calls that the event loop of a thread has made in its present turn."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.calls: list[Call[S]] = []


class Writer(Generic[S]):
    """Runs steps in transactions, on a thread of its own."""

    def __init__(self, path: Path, transactions: Transactions[S]) -> None:
        self._path = path
        self._transactions = transactions
        self._calls: SimpleQueue[list[Call[S]] | None] = SimpleQueue()
        self._turn: _Turn[S] = _Turn()
        self._closed = False
        self._thread = Thread(target=self._run, name="drumbeat-sqlite-writer", daemon=True)
        self._thread.start()

    def do(self, step: Callable[[S], T | DeferredResult[T]]) -> asyncio.Future[T]:
        """Run a step in a transaction; its result comes after the commit."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._calls_of(loop).append(Call(step, future))
        return future

    def do_unsynced(self, step: Callable[[S], T | DeferredResult[T]]) -> asyncio.Future[T]:
        """Like `do`, but the commit does not wait for the disk.

        Other processes see it at once, and the death of this one does not undo it. A power cut
        may, unless a commit that waits has followed; then that one and all before it stay.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._calls_of(loop).append(UnsyncedCall(step, future))
        return future

    def join(
        self,
        together: Callable[[S, Sequence[Request]], DeferredResult[Sequence[T]]],
        request: Request,
    ) -> asyncio.Future[T]:
        """Like `do`, for a step that takes many requests and returns a result for each, in order.

        Consecutive calls of one turn of a loop become one step.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        calls = self._calls_of(loop)
        last = calls[-1] if calls else None
        if not isinstance(last, JoinedCalls) or last.together is not together:
            last = JoinedCalls(together, future)
            calls.append(last)
        last.join(request, future)
        return future

    async def open(self) -> None:
        await self.do(lambda _: None)

    async def close(self) -> None:
        """Finish the waiting calls, then close the file."""
        if self._turn.loop is not None:
            self._hand_over()
        self._closed = True
        self._calls.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _calls_of(self, loop: asyncio.AbstractEventLoop) -> list[Call[S]]:
        """The calls of the present turn of the loop, which are handed over at its end."""
        turn = self._turn
        if turn.loop is not loop:
            turn.loop, turn.calls = loop, []
            loop.call_soon(self._hand_over)
        return turn.calls

    def _hand_over(self) -> None:
        turn = self._turn
        calls, turn.calls, turn.loop = turn.calls, [], None
        if self._closed:
            calls = in_parts(calls)
            for call in calls:
                call.fail(Unavailable(f"{self._path} was closed meanwhile"))
            resolve_all(calls)
        elif calls:
            self._calls.put(calls)

    def _run(self) -> None:
        closing = False
        while not closing:
            calls = self._next()
            if calls is None:
                break
            closing = self._gather(calls)
            build_and_resolve(self._transactions.run(calls))
            del calls  # keep nothing of a batch alive while the thread waits for the next
        self._transactions.close()

    def _next(self) -> list[Call[S]] | None:
        """Wait for calls; meanwhile bring to the disk what is not there yet."""
        if self._transactions.unsynced:
            with suppress(Empty):
                return self._calls.get(timeout=SYNC_WITHIN)
            self._transactions.sync()
        return self._calls.get()

    def _gather(self, calls: list[Call[S]]) -> bool:
        """Add every call that waits; True: the writer is closing."""
        with suppress(Empty):
            while sum(call.size for call in calls) < LARGEST_BATCH:
                more = self._calls.get_nowait()
                if more is None:
                    return True
                calls += more
        return False
