"""NodeThread: runs an app as a node in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from importlib import import_module
from weakref import WeakSet

from drumbeat.config import refuse_while_loading
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import NotRunning
from drumbeat.model.fleet.node import Role
from drumbeat.wiring.lifecycle import Lifecycle

_running: WeakSet[NodeThread] = WeakSet()


class NodeThread:
    """Starts a daemon thread with an event loop, and the node on it. It touches no signals.

    A node that still runs when the interpreter exits is stopped first.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._begin()
        renew_in_children(self._renew)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._node: _Node | None = None

    def _renew(self) -> None:
        leave_to_parent(self._node)
        self._begin()

    def start(self, roles: Iterable[Role | str], store_wait: float) -> None:
        """Return once the node runs; raise the error of a start that fails."""
        refuse_while_loading()
        with self._lock:
            if self._node is not None:
                raise NotRunning("the app is running already; stop it before starting it again")
            node = self._node = _Node(roles, store_wait)
            thread = threading.Thread(target=self._run, args=(node,), name="drumbeat-node")
            thread.daemon = True
            thread.start()
        _stop_at_exit()
        try:
            node.started.result()
        except BaseException:
            self.stop(0.0)  # the caller may have been interrupted
            raise

    def stop(self, grace: float | None = None) -> None:
        """Drain and stop the node, and return once it has stopped. Harmless if there is none."""
        with self._lock:
            node = self._node
            if node is None:
                return
            if not node.stopping.done():
                node.stopping.set_result(grace)
        node.ended.result()

    def _run(self, node: _Node) -> None:
        failure: BaseException | None = None
        try:
            asyncio.run(self._serve(node))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            failure = error
        with self._lock:
            self._node = None
        _running.discard(self)
        waited = node.ended if node.started.done() else node.started
        if failure is not None:
            waited.set_exception(failure)
        for future in (node.started, node.ended):
            if not future.done():
                future.set_result(None)

    async def _serve(self, node: _Node) -> None:
        stopping = asyncio.wrap_future(node.stopping)
        starting = asyncio.ensure_future(self._lifecycle.start(node.roles, node.store_wait))
        await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
        await starting
        _running.add(self)
        node.started.set_result(None)
        await self._lifecycle.stop(await stopping)


class _Node:
    """A node in the thread, from its start to its end."""

    def __init__(self, roles: Iterable[Role | str], store_wait: float) -> None:
        self.roles = roles
        self.store_wait = store_wait
        self.started: Future[None] = Future()
        self.stopping: Future[float | None] = Future()
        """Its result is the grace."""
        self.ended: Future[None] = Future()


def _stop_all() -> None:
    for thread in tuple(_running):
        thread.stop()


_registered = threading.Event()


def _stop_at_exit() -> None:
    """Stop nodes before the interpreter ends its pools of threads, which they need to stop.

    What was registered last is called first, and importing the pools registers their end.
    """
    if not _registered.is_set():
        _registered.set()
        import_module("concurrent.futures.thread")
        getattr(threading, "_register_atexit", atexit.register)(_stop_all)
