"""Listeners: who is woken by hints about which topics, and on which event loop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from drumbeat.backends.event_loops import running_loop


class TopicListener:
    """One listener. They are compared by identity, so the same call may listen twice."""

    __slots__ = ("loop", "topics", "wake")

    def __init__(self, topics: int, wake: Callable[[], None]) -> None:
        self.topics = topics
        self.wake = wake
        self.loop = running_loop()

    def call(self) -> None:
        """Call it on its own loop; one that has no loop is called right away."""
        if self.loop is None:
            self.wake()
        else:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens there
                self.loop.call_soon_threadsafe(self._call_if_subscribed)

    def _call_if_subscribed(self) -> None:
        if self.topics:
            self.wake()


class Listeners:
    """The listeners of one handle. Any thread may add and remove them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: tuple[TopicListener, ...] = ()
        self.heard = 0
        """The topics that have a listener."""

    def add(self, topics: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Add a listener; the returned call removes it."""
        listener = TopicListener(topics, wake)
        with self._lock:
            self._set((*self._all, listener))

        def remove() -> None:
            listener.topics = 0  # so that a call that is on its way does nothing
            with self._lock:
                self._set(tuple(each for each in self._all if each is not listener))

        return remove

    def wake(self, topics: int) -> None:
        """Wake every listener of any of the topics."""
        if not topics & self.heard:
            return
        for listener in self._all:
            if listener.topics & topics:
                listener.call()

    def _set(self, listeners: tuple[TopicListener, ...]) -> None:
        self._all = listeners
        heard = 0
        for listener in listeners:
            heard |= listener.topics
        self.heard = heard
