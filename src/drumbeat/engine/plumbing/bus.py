"""The bus: every event goes through it."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from drumbeat.engine.plumbing.time_outs import is_own_cancellation
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model import events
from drumbeat.model.errors import InvalidInput
from drumbeat.model.events.event import Event
from drumbeat.ports.clock import Clock

E = TypeVar("E", bound=Event)
EventListener: TypeAlias = Callable[[E], Awaitable[None] | None]

Subscription: TypeAlias = tuple[EventListener[Any], Callable[[], bool] | None]

LONGEST_BACKLOG = 10_000
ESCAPES = (Exception, asyncio.CancelledError, SystemExit)
"""What a listener may raise without harm."""


class Bus:
    """Delivers events to listeners, in order. A listener that fails stops nothing.

    Plain listeners are called at once and must be quick; coroutine listeners run one after the
    other beside the engine. When those fall behind by more than the backlog allows, their oldest
    events are dropped, since memory must stay bounded.
    """

    def __init__(self, clock: Clock) -> None:
        self._listeners: dict[type[Event], list[Subscription]] = {}
        self._everything: list[Subscription] = []
        self._clock = clock
        self._begin()
        renew_in_children(self._renew)
        self.dropped = 0
        self.changes = 0
        """How many subscriptions have begun or ended."""

    def on(
        self, kind: type[E], listener: EventListener[E], when: Callable[[], bool] | None = None
    ) -> Callable[[], None]:
        """Call the listener for each event of the kind (`Event`: of all kinds).

        `when` says whether the listener is interested just now. Returns the unsubscribe function.
        """
        refuse_other_kinds(kind)
        listeners = (
            self._everything
            if cast("type[Event]", kind) is Event
            else self._listeners.setdefault(kind, [])
        )
        subscription = (listener, when)
        listeners.append(subscription)
        self.changes += 1

        def end() -> None:
            if subscription in listeners:
                listeners.remove(subscription)
                self.changes += 1

        return end

    def hears(self, kind: type[Event]) -> bool:
        """Whether there are listeners: hot paths do not create events without one."""
        if self._everything:
            return True
        for _, when in self._listeners.get(kind, ()):  # noqa: SIM110 - twice as fast as any()
            if when is None or when():
                return True
        return False

    def emit(self, event: Event) -> None:
        listeners = self._listeners.get(type(event))
        if listeners:
            self._deliver(event, listeners)
        if self._everything:
            self._deliver(event, self._everything)

    def _deliver(self, event: Event, listeners: Sequence[Subscription]) -> None:
        for listener, _ in tuple(listeners):
            try:
                answer = listener(event)
            except ESCAPES as error:  # an error of a listener must not stop the engine
                self._report(event, error)
            else:
                if answer is not None and inspect.isawaitable(answer):
                    self._enqueue(event, answer)

    def _begin(self) -> None:
        self._backlog: deque[tuple[Event, Awaitable[None]]] = deque()
        self._wake_up = WakeUp(self._clock)

    def _renew(self) -> None:
        leave_to_parent(self._backlog)
        self._begin()

    async def run(self) -> None:
        """Run the listeners that are coroutines, one after the other, until cancelled."""
        while True:
            await self._wake_up.wait()
            await self.flush()

    async def flush(self) -> None:
        """Run the coroutine listeners that are queued."""
        while self._backlog:
            event, answer = self._backlog.popleft()
            try:
                await answer
            except ESCAPES as error:
                if is_own_cancellation(error):
                    raise
                self._report(event, error)

    def _enqueue(self, event: Event, answer: Awaitable[None]) -> None:
        if len(self._backlog) >= LONGEST_BACKLOG:
            _, dropped = self._backlog.popleft()
            if inspect.iscoroutine(dropped):
                dropped.close()
            self.dropped += 1
        self._backlog.append((event, answer))
        self._wake_up.set()

    def _report(self, event: Event, error: BaseException) -> None:
        if not isinstance(
            event, events.ListenerFailed
        ):  # a failing listener of failures must not loop
            self.emit(events.ListenerFailed(event, error))


def refuse_other_kinds(given: object) -> None:
    """Refuse what is not a class of events, for callers that do not use a type checker."""
    if not (isinstance(given, type) and issubclass(given, Event)):
        raise InvalidInput(
            f"{given!r} is not a kind of event; give a class of drumbeat.model.events"
        )
