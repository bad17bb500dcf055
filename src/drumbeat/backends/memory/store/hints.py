"""Hints: which subscribers are woken, and on which event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from drumbeat.backends.event_loops import call_on, running_loop
from drumbeat.ports.store import Topic


class Subscription:
    """One subscriber. They are compared by identity, so the same call may subscribe twice."""

    __slots__ = ("loop", "wake")

    def __init__(self, wake: Callable[[], None], loop: asyncio.AbstractEventLoop | None) -> None:
        self.wake = wake
        self.loop = loop


class Hints:
    """Wakes subscribers of a topic after a step in which something happened to it."""

    def __init__(self) -> None:
        self._subscriptions: dict[Topic, tuple[Subscription, ...]] = dict.fromkeys(Topic, ())
        self._noted: dict[Topic, None] = {}
        self.note = self._noted.setdefault
        """Remember, within a step, that the topic's subscribers are to be woken after it."""

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Subscription:
        """Wake from now on. A subscriber without a running loop is called right away."""
        subscription = Subscription(wake, running_loop())
        self._subscriptions[topic] = (*self._subscriptions[topic], subscription)
        return subscription

    def unsubscribe(self, topic: Topic, subscription: Subscription) -> None:
        self._subscriptions[topic] = tuple(
            each for each in self._subscriptions[topic] if each is not subscription
        )

    def drain(self) -> tuple[Subscription, ...]:
        """Return the subscribers of the noted topics, and clear those."""
        if not self._noted:
            return ()
        woken = [each for topic in self._noted for each in self._subscriptions[topic]]
        self._noted.clear()
        return tuple(woken)


def wake(subscriptions: tuple[Subscription, ...]) -> None:
    """Call each on its own loop."""
    for subscription in subscriptions:
        call_on(subscription.loop, subscription.wake)
