"""Listeners: calls that hints make, each on the event loop that it was added on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from drumbeat.forks import renew_in_children

ANY = 1
"""The topic of listeners that are woken together."""


class Listener:
    """One call. Listeners are compared by identity, so the same call may be added twice."""

    __slots__ = ("_loop", "_wake", "topics")

    def __init__(self, topics: int, wake: Callable[[], None]) -> None:
        self.topics = topics
        """The topics as bits; 0 once it was removed."""
        self._wake = wake
        self._loop = _running_loop()

    def call(self) -> None:
        """Wake it: at once if its loop runs here or it has none, else soon."""
        if self._loop is None or self._loop is _running_loop():
            self._wake()
        else:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens there
                self._loop.call_soon_threadsafe(self._wake_if_listening)

    def _wake_if_listening(self) -> None:
        if self.topics:
            self._wake()


class Listeners:
    """Wakes listeners by topic. Any thread may add, remove and wake them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: tuple[Listener, ...] = ()
        self.topics = 0
        """The topics that have a listener."""
        renew_in_children(self._renew)

    def add(self, topics: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Add a listener; the returned call removes it."""
        listener = Listener(topics, wake)
        with self._lock:
            self._set((*self._all, listener))

        def remove() -> None:
            listener.topics = 0
            with self._lock:
                self._set(tuple(each for each in self._all if each is not listener))

        return remove

    def wake(self, topics: int = ANY) -> None:
        """Wake every listener of any of the topics."""
        if topics & self.topics:
            for listener in self._all:
                if listener.topics & topics:
                    listener.call()

    def _renew(self) -> None:
        """Forget the listeners: the parent's loops are not run here."""
        self._lock = Lock()
        self._set(())

    def _set(self, listeners: tuple[Listener, ...]) -> None:
        self._all = listeners
        self.topics = 0
        for listener in listeners:
            self.topics |= listener.topics


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
