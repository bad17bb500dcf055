"""Steps: what makes every method of the memory store atomic."""

from __future__ import annotations

from datetime import datetime
from threading import Lock
from types import TracebackType
from typing import NoReturn, Self

from drumbeat.backends.memory.store.hints import Hints
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.time.instant import aware
from drumbeat.ports.clock import Clock


class ForkedMemory:
    """The lock of a store that belongs to the parent process: nobody gets it."""

    def acquire(self) -> NoReturn:
        raise ConfigurationError(
            "this process was forked from one that uses the memory store, and cannot see what "
            "happens there: name a store that processes share, such as 'sqlite:///drumbeat.db', "
            "or use the memory store only after the fork"
        )

    def release(self) -> None: ...


class Step:
    """Runs one step at a time, over all threads, and then sends the hints that the step noted.

    A `with` block of it must not await, and must reject invalid input before its first write.
    """

    __slots__ = ("_clock", "_hints", "_lock")

    def __init__(self, clock: Clock, hints: Hints) -> None:
        self._clock = clock
        self._hints = hints
        self._lock: Lock | ForkedMemory = Lock()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        listeners = self._hints.drain()
        self._lock.release()
        for listener in listeners:
            listener.call()  # without the lock: it may call the store at once

    def renew(self, *, used: bool) -> None:
        """Begin afresh in a forked process. If the parent has used the store, refuse every step."""
        interrupted = isinstance(self._lock, ForkedMemory) or self._lock.locked()
        self._lock = ForkedMemory() if used or interrupted else Lock()

    def now(self, at: datetime | None = None) -> datetime:
        """The instant to judge by: the one given, or the clock's."""
        return self._clock.now() if at is None else aware("at", at)
