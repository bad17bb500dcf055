"""How fast the backends answer this node, and how far the store's clock differs from its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.fleet.local.services import Services
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.ports.clock import Clock
from drumbeat.wire.backend import BackendView

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds that a backend has to answer."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    value: T
    seconds: float


async def backends(services: Services) -> tuple[BackendView, ...]:
    """The store and the coordinator."""
    return await _store(services), await _coordinator(services)


async def _store(services: Services) -> BackendView:
    clock, kind = services.runtime.clock, _kind(services.config.store)
    answer = await _asked(services.store.now, clock)
    if isinstance(answer, str):
        return BackendView(name="store", kind=kind, fault=answer)
    # The store read its clock about in the middle of the time that the answer took.
    ahead = (answer.value - clock.now()).total_seconds() + answer.seconds / 2
    return BackendView(
        name="store", kind=kind, seconds=answer.seconds, clock_ahead_seconds=round(ahead, 6)
    )


async def _coordinator(services: Services) -> BackendView:
    async def leader() -> object:
        await services.coordinator.open()
        return await services.coordinator.leases.current(SCHEDULER)

    kind = _kind(services.config.coordinator or services.config.store)
    answer = await _asked(leader, services.runtime.clock)
    if isinstance(answer, str):
        return BackendView(name="coordinator", kind=kind, fault=answer)
    return BackendView(name="coordinator", kind=kind, seconds=answer.seconds)


async def _asked(ask: Callable[[], Awaitable[T]], clock: Clock) -> _Answer[T] | str:
    """The answer, or why there is none."""
    started = clock.elapsed()
    try:
        async with timeout_after(clock, PATIENCE):
            value = await ask()
    except Exception as error:  # noqa: BLE001 - whatever it is, the answer is missing
        return str(error) or type(error).__name__
    return _Answer(value, clock.elapsed() - started)


def _kind(address: str | None) -> str:
    return (address or "").partition(":")[0]
