"""The measured store: the store itself, with its operations timed and its batches counted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.telemetry.figures import Figures
from drumbeat.telemetry.flow import Flow

LOGGER = logging.getLogger("drumbeat")
PARTS = frozenset({"schedules", "jobs", "nodes", "fence", "retention", "queues", "audit", "tokens"})
"""The roles of a store. Each of their methods is an operation."""
OWN = frozenset({"open", "now"})
"""Operations of the store itself."""
GIVEN_UP = 1.0
"""Seconds after which a call that is cancelled was not answered in time, and so has failed."""

Call = Callable[..., Awaitable[Any]]
Note = Callable[..., None]


def measured(store: Store, figures: Figures, clock: Clock) -> Store:
    """The store, as others may use it in place of itself."""
    return cast("Store", _MeasuredStore(store, _Measure(figures, clock)))


class _Measure:
    """Times operations, and has what they tell noted."""

    def __init__(self, figures: Figures, clock: Clock) -> None:
        flow = Flow(figures)
        self._figures = figures
        self._elapsed = clock.elapsed
        self._notes: dict[str, Note] = {
            "jobs.insert": flow.inserted,
            "jobs.take": flow.taken,
            "jobs.lost": flow.lost,
            "jobs.settle": flow.settled,
            "jobs.reap": flow.settled,
            "schedules.commit": flow.committed,
            "schedules.backfill": flow.backfilled,
        }

    def of(self, operation: str, call: Call) -> Call:
        """The operation, measured."""
        elapsed, spread = self._elapsed, self._figures.operations.of(operation)
        note = self._notes.get(operation)

        async def timed(*args: Any, **kwargs: Any) -> Any:
            started = elapsed()
            try:
                answer = await call(*args, **kwargs)
            except BaseException as error:
                seconds = elapsed() - started
                spread.observe(seconds)
                if _is_failure(error, seconds):
                    self._figures.errors.add((operation,))
                raise
            spread.observe(elapsed() - started)
            if note is not None:
                try:
                    note(answer, *args, **kwargs)
                except Exception:  # a figure is not worth an answer of the store
                    LOGGER.exception("What %s did could not be counted", operation)
            return answer

        return timed


class _MeasuredPart:
    """One role of the store."""

    def __init__(self, part: object, name: str, measure: _Measure) -> None:
        self._part = part
        self._name = name
        self._measure = measure

    def __getattr__(self, name: str) -> Any:  # Any: whatever the part has
        call = self._measure.of(f"{self._name}.{name}", getattr(self._part, name))
        setattr(self, name, call)  # found there from now on
        return call


class _MeasuredStore:
    """What is none of its operations is the store's own, and asked of it each time."""

    def __init__(self, store: Store, measure: _Measure) -> None:
        self._store = store
        self._measure = measure

    def __getattr__(self, name: str) -> Any:  # Any: whatever the store has
        member = getattr(self._store, name)
        if name in PARTS:
            member = _MeasuredPart(member, name, self._measure)
            setattr(self, name, member)
        elif name in OWN:
            member = self._measure.of(f"store.{name}", member)
            setattr(self, name, member)
        return member


def _is_failure(error: BaseException, seconds: float) -> bool:
    """Whether the store failed. What it refuses by its rules is an answer like any other."""
    if isinstance(error, asyncio.CancelledError):
        return seconds >= GIVEN_UP
    return isinstance(error, Unavailable) or not isinstance(error, DrumbeatError)
