"""The timed store: forwards to the real store, times each operation and counts jobs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.telemetry.instruments import Instruments
from drumbeat.telemetry.job_counters import JobCounters

LOGGER = logging.getLogger("drumbeat")
PARTS = frozenset({"schedules", "jobs", "nodes", "fence", "retention", "queues", "audit", "tokens"})
"""The roles of a store. Each of their methods is an operation."""
OWN = frozenset({"open", "now"})
"""Operations of the store itself."""
GIVEN_UP = 1.0
"""A call that is cancelled after this many seconds counts as failed: it had no answer in time."""

Call = Callable[..., Awaitable[Any]]
Note = Callable[..., None]


def timed_store(store: Store, instruments: Instruments, clock: Clock) -> Store:
    """The store with its operations timed; use it in place of the store."""
    return cast("Store", _TimedStore(store, _Timer(instruments, clock)))


class _Timer:
    """Wraps operations."""

    def __init__(self, instruments: Instruments, clock: Clock) -> None:
        counters = JobCounters(instruments)
        self._instruments = instruments
        self._elapsed = clock.elapsed
        self._notes: dict[str, Note] = {
            "jobs.insert": counters.inserted,
            "jobs.take": counters.taken,
            "jobs.lost": counters.lost,
            "jobs.settle": counters.settled,
            "jobs.reap": counters.settled,
            "schedules.commit": counters.committed,
            "schedules.backfill": counters.backfilled,
        }

    def of(self, operation: str, call: Call) -> Call:
        elapsed, histogram = self._elapsed, self._instruments.operations.of(operation)
        note = self._notes.get(operation)

        async def timed(*args: Any, **kwargs: Any) -> Any:
            started = elapsed()
            try:
                answer = await call(*args, **kwargs)
            except BaseException as error:
                seconds = elapsed() - started
                histogram.observe(seconds)
                if _is_failure(error, seconds):
                    self._instruments.errors.add((operation,))
                raise
            histogram.observe(elapsed() - started)
            if note is not None:
                try:
                    note(answer, *args, **kwargs)
                except Exception:  # counting must never lose the store's answer
                    LOGGER.exception("Could not count the jobs of %s", operation)
            return answer

        return timed


class _TimedPart:
    """One role of the store."""

    def __init__(self, part: object, name: str, timer: _Timer) -> None:
        self._part = part
        self._name = name
        self._timer = timer

    def __getattr__(self, name: str) -> Any:  # Any: whatever the part has
        call = self._timer.of(f"{self._name}.{name}", getattr(self._part, name))
        setattr(self, name, call)  # later calls find it there
        return call


class _TimedStore:
    """Other attributes are read from the store each time."""

    def __init__(self, store: Store, timer: _Timer) -> None:
        self._store = store
        self._timer = timer

    def __getattr__(self, name: str) -> Any:  # Any: whatever the store has
        member = getattr(self._store, name)
        if name in PARTS:
            member = _TimedPart(member, name, self._timer)
            setattr(self, name, member)
        elif name in OWN:
            member = self._timer.of(f"store.{name}", member)
            setattr(self, name, member)
        return member


def _is_failure(error: BaseException, seconds: float) -> bool:
    """Whether the store failed. A refusal by its rules is an answer."""
    if isinstance(error, asyncio.CancelledError):
        return seconds >= GIVEN_UP
    return isinstance(error, Unavailable) or not isinstance(error, DrumbeatError)
