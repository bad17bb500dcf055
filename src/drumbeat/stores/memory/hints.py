"""Hints: who wants to be woken, and on which event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from drumbeat.ports.store import Topic


class Subscription:
    """One subscriber: compared by identity, so the same call may be subscribed twice."""

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
        """Wake no more."""
        self._subscriptions[topic] = tuple(
            each for each in self._subscriptions[topic] if each is not subscription
        )

    def drain(self) -> tuple[Subscription, ...]:
        """Those to be woken for what was noted, which is forgotten."""
        if not self._noted:
            return ()
        woken = [each for topic in self._noted for each in self._subscriptions[topic]]
        self._noted.clear()
        return tuple(woken)


def wake(subscriptions: tuple[Subscription, ...]) -> None:
    """Call each on its own loop: at once if that is this one, else as soon as it comes around."""
    here = running_loop()
    for subscription in subscriptions:
        loop = subscription.loop
        if loop is None or loop is here:
            subscription.wake()
        else:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens there
                loop.call_soon_threadsafe(subscription.wake)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the calling thread, if one runs there."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
