"""What a node does in a process of its own: signals, exit codes, garbage, the event loop.

The first SIGTERM or SIGINT drains within the grace; a second one cuts the grace short: running
jobs are interrupted and given back; a third ends the process at once. SIGQUIT drains without limit.
A request to drain that came through the store counts as a SIGTERM.
"""

from __future__ import annotations

import asyncio
import gc
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol, TypeAlias

from drumbeat.engine.lifecycle.startup import StartAbandoned
from drumbeat.model.errors import ConfigurationError, StartHookFailed, Unavailable
from drumbeat.model.visible_text import visible

FAILED = 1
BAD_SETTING = 2
NO_STORE = 5
"""Exit codes; those of the command line for the same errors."""


class Stoppable(Protocol):
    """What a signal stops."""

    @property
    def drain_requested(self) -> asyncio.Event:
        """Set when a person has asked for this node to be drained."""
        ...

    def hurry(self) -> None:
        """End the grace of a stop that is under way."""
        ...

    async def wait(self) -> None:
        """Return when its services have ended, which they do not by themselves."""
        ...


Start: TypeAlias = Callable[[], Coroutine[Any, Any, Stoppable]]
Stop: TypeAlias = Callable[[float], Coroutine[Any, Any, None]]


def require_own_process() -> None:
    """Refuse a thread other than the main one, which gets no signals, and a running event loop."""
    if threading.current_thread() is not threading.main_thread():
        raise ConfigurationError(
            "app.run() handles signals, so it works only in the main thread: in another thread "
            "call app.start_in_background()"
        )
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise ConfigurationError(
            "app.run() was called within a running event loop: write `await app.start()`, or "
            "`async with app.running():`"
        )


async def run_until_signalled(
    start: Start, stop: Stop, grace: float, abandon: Callable[[], None]
) -> None:
    """Start a node, wait for a signal, then stop the node as the signal says.

    A signal during the start takes effect as soon as the node runs, so that it drains. If the
    start waits for the store, `abandon` ends it and nothing is run.
    """
    asked: asyncio.Queue[signal.Signals] = asyncio.Queue()

    def handle(number: signal.Signals) -> None:
        asked.put_nowait(number)
        abandon()

    with _handlers(handle):
        try:
            node = await start()
        except StartAbandoned:
            return
        freeze_loaded_objects()
        first = await _first(asked, node)
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(stop(math.inf if first is signal.SIGQUIT else grace))
            hurrying = group.create_task(_hurry(asked, node))
            stopping.add_done_callback(lambda _: hurrying.cancel())


async def _hurry(asked: asyncio.Queue[signal.Signals], node: Stoppable) -> None:
    while True:
        again = await asked.get()
        if again is not signal.SIGQUIT:
            node.hurry()
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, _exit)


def _exit(_number: int, _frame: FrameType | None) -> None:
    os._exit(1)


async def _first(asked: asyncio.Queue[signal.Signals], node: Stoppable) -> signal.Signals:
    signalled = asyncio.ensure_future(asked.get())
    drained = asyncio.ensure_future(node.drain_requested.wait())
    ended = asyncio.ensure_future(node.wait())
    try:
        await asyncio.wait([signalled, drained, ended], return_when=asyncio.FIRST_COMPLETED)
        return signalled.result() if signalled.done() else signal.SIGTERM
    finally:
        for waiting in (signalled, drained, ended):
            waiting.cancel()


@contextmanager
def _handlers(handle: Callable[[signal.Signals], None]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    caught = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
    for number in caught:
        loop.add_signal_handler(number, handle, number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


@contextmanager
def exit_on_failed_start(hide: Callable[[str], str]) -> Generator[None]:
    """Turn errors of a start into one line on standard error and `SystemExit`.

    `hide` removes secrets from the line. The error is the cause of the `SystemExit`.
    """
    try:
        yield
    except (ConfigurationError, Unavailable, StartHookFailed) as error:
        for line in str(error).splitlines():
            sys.stderr.write(f"Error: {visible(hide(line))}\n")
        raise SystemExit(_exit_code(error)) from error


def _exit_code(error: Exception) -> int:
    match error:
        case Unavailable():
            return NO_STORE
        case StartHookFailed():
            return FAILED
        case _:
            return BAD_SETTING


def freeze_loaded_objects() -> None:
    """Collect garbage, then exempt what is left from later collections.

    A full collection scans every object. After the imports there are a hundred thousand, which
    takes tens of milliseconds, in which no job starts. Nearly all of them live until the end.
    """
    gc.collect()
    gc.freeze()


def fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """A factory of uvloop loops; None if uvloop is not installed."""
    try:
        import uvloop  # noqa: PLC0415 - part of an extra, and not on every system
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop
