"""Forks: what must not be in use while the process forks, and what a child makes anew.

A forked child has copies of the parent's locks, event loops and connections, but none of the
threads that use them. So each object with such a part drops it in the child and begins afresh. What
it drops is kept here and never closed, since closing it in the child would disturb the parent: they
share the sockets, the files and the kernel's lists of events.

A library with a state of its own, such as SQLite's list of file locks, cannot be made anew. It must
have nothing open during the fork: see `ForkGuard`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from types import MethodType
from typing import Any, cast
from weakref import WeakKeyDictionary, ref

_renewals: WeakKeyDictionary[object, Callable[[Any], None]] = WeakKeyDictionary()
_inherited: list[object] = []


def renew_in_children(renew: Callable[[], None]) -> None:
    """Call this method in each forked child, for as long as its object lives; one for each object.

    It must not wait, and must not use a lock that another thread may have held during the fork.
    """
    method = cast("MethodType", renew)
    _renewals[method.__self__] = method.__func__


def leave_to_parent(*parts: object) -> None:
    """Keep what the parent uses, so that it is never closed here."""
    _inherited.extend(parts)


class ForkGuard:
    """No `with` block of it overlaps a fork, and `let_go` is called before each fork.

    Only one thread enters the block.
    """

    def __init__(self, let_go: Callable[[], None]) -> None:
        self._let_go = let_go
        self._turn = Lock()  # else a busy thread would get the other lock again and again
        self._in_use = Lock()
        _guards.append(ref(self, _guards.remove))

    def __enter__(self) -> None:
        with self._turn:
            self._in_use.acquire()

    def __exit__(self, *_: object) -> None:
        self._in_use.release()

    def pause(self) -> None:
        self._turn.acquire()
        self._in_use.acquire()
        self._let_go()

    def resume(self) -> None:
        self._in_use.release()
        self._turn.release()


_guards: list[ref[ForkGuard]] = []
_forking = Lock()
_paused: list[ForkGuard] = []


def _before() -> None:
    _forking.acquire()
    while guards := {guard for each in tuple(_guards) if (guard := each())}.difference(_paused):
        for guard in guards:
            guard.pause()
            _paused.append(guard)


def _after() -> None:
    for guard in _paused:
        guard.resume()
    _paused.clear()
    _forking.release()


def _after_in_child() -> None:
    _after()
    for owner, renew in tuple(_renewals.items()):
        renew(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
