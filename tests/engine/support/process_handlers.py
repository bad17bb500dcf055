"""Handlers that a child process can import. They are run by the tests of `process=True`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drumbeat import Cancel, Context, Fail, Snooze, current
from drumbeat.model.jobs.job import RESULT_LIMIT


def add(left: int, right: int) -> dict[str, int]:
    return {"sum": left + right, "pid": os.getpid()}


async def add_async(ctx: Context, left: int, right: int) -> int:
    return left + right + ctx.number - 1


def explode() -> None:
    raise ValueError("no such account")


class Declined(Exception):
    """It cannot be sent to another process: it is made of two values and pickled with one."""

    def __init__(self, card: str, why: str) -> None:
        super().__init__(f"{card}: {why}")


def decline() -> None:
    raise Declined("visa", "no cover")


def refuse() -> None:
    raise Fail("the order is closed")


def asked_after(attempt: int, error: BaseException) -> float | None:
    """Says which process it is asked in, by the delay."""
    assert isinstance(error, Declined)
    return None if attempt == 2 else float(os.getpid())


def die() -> None:
    os._exit(7)


def hang(started: str) -> None:
    Path(started).write_text(str(os.getpid()), encoding="utf-8")
    threading.Event().wait()


def report(ctx: Context, told: str) -> str:
    ctx.progress(1, 2, "half")
    Path(told).touch()
    ctx.cancelled.block(30)
    ctx.finished()
    return ctx.cancelled.reason or "nobody told me"


def stop_early(ctx: Context, told: str) -> str:
    Path(told).touch()
    return "too early" if not ctx.cancelled.block(30) else "half done"


def _touch(file: str) -> None:
    Path(file).touch()


def raise_early(ctx: Context, told: str) -> None:
    stop_early(ctx, told)
    raise ValueError("cut short")


async def stop_early_async(ctx: Context, told: str) -> str:
    _touch(told)
    await ctx.cancelled.wait()
    return "half done"


def hold(started: str, release: str) -> None:
    Path(started).touch()
    _wait_for(release)


def beat(ctx: Context, folder: str, beats: int) -> str:
    """Show a sign of life when a file of its number is there, time after time."""
    Path(folder, "started").touch()
    for number in range(beats):
        _wait_for(f"{folder}/{number}")
        ctx.heartbeat()
    return "finished"


def _wait_for(file: str) -> None:
    while not Path(file).exists():
        threading.Event().wait(0.01)


def snooze(ctx: Context) -> str:
    if ctx.fence == 1:
        raise Snooze(0)
    return "awake"


def cancel() -> None:
    raise Cancel("not wanted")


def unserialisable() -> object:
    return object()


def huge() -> str:
    return "x" * (RESULT_LIMIT + 1)


def leave() -> None:
    raise SystemExit(4)


def give_up() -> None:
    raise GeneratorExit


async def give_up_async() -> None:
    raise GeneratorExit


def current_job() -> int:
    return current().job_id


STARTED: list[str] = []


def note_start() -> None:
    STARTED.append("first")


def note_second_start() -> None:
    STARTED.append("second")


def starts() -> list[Any]:
    return [os.getpid(), *STARTED]


def fail_to_start() -> None:
    raise OSError("no model here")


def count_words(ctx: Context, call_next: Callable[[], object]) -> object:
    """Middleware that runs in the child."""
    assert current() is ctx
    result = call_next()
    return [os.getpid(), result]


def refuse_orders(ctx: Context, call_next: Callable[[], object]) -> object:
    raise Cancel(f"refused in {'another' if os.getppid() else 'this'} process")


def fail_portably() -> None:
    raise KeyError("order 7")


class UnportableError(Exception):
    """Cannot be unpickled: its constructor takes two arguments and the base class knows one."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def fail_unportably() -> None:
    raise UnportableError(7, "no")
