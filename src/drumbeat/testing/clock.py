"""The fake clock: time that stands still until a test moves it.

Each waiter has set an alarm. `advance` goes from alarm to alarm, in their order, and lets
the event loop come to rest in between, so that a running app sees every moment of the time that
passes, at the very instant that it asked for, and a day takes seconds.

**At rest** means that no callback is ready to run on the loop. The standard loops keep those in a
queue that can be looked at; on a loop without one (uvloop) a fixed number of turns has to do.
Synchronous handlers run in threads, of which the loop knows nothing. They are waited for, up to
`patience` seconds of real time each; one that takes longer is left to run while time goes on,
which is what a slow handler looks like. Nothing else that is real is waited for: a handler that
waits for a socket or by `asyncio.sleep` is, for this clock, a handler that takes long. Wait for
its job (`app.wait_until_idle()`) before time is moved on.

Time is counted in whole microseconds, as instants are, so that no rounding makes anything early:
an alarm never rings before its time, and at most one microsecond after it.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable, Coroutine, Sized
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar
from weakref import WeakSet

from drumbeat.engine.executing.threads import under_way
from drumbeat.model.time.duration import describe_duration, parse_duration
from drumbeat.model.time.instant import aware
from drumbeat.ports.clock import Alarm

T = TypeVar("T")

START = datetime(2030, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ROUNDING = 2**-51
"""The share by which a float may be off after it was turned into microseconds."""
MOST_TURNS = 100_000
"""Turns of the loop after which a task that never waits is to blame."""
BLIND_TURNS = 100
"""Turns of a loop that does not say whether it is at rest."""


class _Alarm:
    """A call that was put off."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    @property
    def pending(self) -> bool:
        return self._callback is not None

    def cancel(self) -> None:
        """Take the call back."""
        self._callback = None

    def ring(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class FakeClock:
    """A clock that only a test moves. Share one among all that should agree on the time."""

    def __init__(self, start: datetime = START, *, patience: float = 1.0) -> None:
        self._start = aware("start", start)
        self._passed = 0
        self._patience = patience
        self._alarms: list[tuple[int, int, _Alarm]] = []
        self._order = count()
        self._moving = False
        self._slow: WeakSet[asyncio.Future[Any]] = WeakSet()

    def __repr__(self) -> str:
        return f"<FakeClock {self.now().isoformat()}>"

    def now(self) -> datetime:
        """The wall clock: the start, plus what was advanced, plus what was jumped."""
        return self._start + timedelta(microseconds=self._passed)

    def elapsed(self) -> float:
        """Seconds that were advanced so far."""
        return self._passed / 1e6

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back on the event loop once so many seconds were advanced."""
        alarm = _Alarm(callback)
        heapq.heappush(
            self._alarms, (self._passed + _microseconds(seconds), next(self._order), alarm)
        )
        return alarm

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """The same: this clock is never late."""
        return self.call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        """Return once so many seconds were advanced."""
        if seconds <= 0:
            await _turn()
            return
        woken = asyncio.Event()
        alarm = self.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            alarm.cancel()

    async def advance(self, by: str | float | timedelta) -> None:
        """Move time on, from alarm to alarm, and end exactly so much later: `advance("2d")`."""
        await self._move(self._passed + parse_duration(by) // MICROSECOND, lambda: False)

    async def until(self, work: Coroutine[Any, Any, T], within: str | float = "1d") -> T:
        """Move time on until the work is done, and return its result.

        For whatever waits by this clock and would otherwise stand still with it:
        `job = await clock.until(app.jobs.wait(job.id))`. `AssertionError` if it takes longer.
        """
        limit = parse_duration(within)
        task = asyncio.ensure_future(work)
        try:
            await self._move(self._passed + limit // MICROSECOND, task.done)
            if not task.done():
                raise AssertionError(f"not done within {describe_duration(limit)} of fake time")
            return task.result()
        finally:
            task.cancel()

    async def settle(self) -> None:
        """Let everything happen that can happen without time passing."""
        loop = asyncio.get_running_loop()
        while True:
            await self._rest(loop)
            calls = [call for call in under_way(loop) if call not in self._slow]
            if not calls:
                return
            done, late = await asyncio.wait(
                calls, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                self._slow.update(late)

    def jump(self, by: float | timedelta) -> None:
        """Put the wall clock forward or, with a negative value, back. No time passes by that."""
        self._start += by if isinstance(by, timedelta) else timedelta(seconds=by)

    async def _move(self, target: int, enough: Callable[[], bool]) -> None:
        if self._moving:
            raise AssertionError("the clock is being moved already, by another task")
        self._moving = True
        try:
            await self.settle()
            while not enough() and (due := self._next()) is not None and due <= target:
                self._passed = max(due, self._passed)
                self._ring()
                await self.settle()
            if not enough():
                self._passed = target
        finally:
            self._moving = False

    def _next(self) -> int | None:
        while self._alarms and not self._alarms[0][2].pending:
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def _ring(self) -> None:
        """Ring all alarms of this instant that were set before it."""
        last = next(self._order)
        while self._alarms and self._alarms[0] < (self._passed, last):
            heapq.heappop(self._alarms)[2].ring()

    async def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        ready: Sized | None = getattr(loop, "_ready", None)
        if ready is None:
            for _ in range(BLIND_TURNS):
                await _turn()
            return
        for _ in range(MOST_TURNS):
            await _turn()
            if not ready:
                return
        raise AssertionError(
            f"the event loop does not come to rest within {MOST_TURNS:,} turns: "
            f"some task goes on and on without waiting for anything"
        )


async def _turn() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - this is a clock module


def _microseconds(seconds: float) -> int:
    """Whole microseconds, rounded up, and never none where there is some time to wait.

    Rounded down, an alarm would ring before its time; its owner would look, find that it is too
    early, and set the same alarm again for ever.
    """
    if seconds <= 0:
        return 0
    return max(1, math.ceil(seconds * 1e6 * (1 - ROUNDING)))
