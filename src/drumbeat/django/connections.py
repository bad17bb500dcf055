"""Connections of Django around handlers, which run outside of any request.

A connection that its server has closed would fail every job of its thread for ever. So before and
after each run the connections of the handler's thread are closed if they are broken or older than
`CONN_MAX_AGE`, as Django does around requests. A connection that is kept is checked by its first
query, as with `CONN_HEALTH_CHECKS`: a restarted server costs the runs that it interrupts, no more.

Asynchronous handlers reach the database through asgiref's thread, so this is done there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connections, reset_queries

from drumbeat.engine.tasks.context import Context


@contextmanager
def fresh_connections() -> Generator[None]:
    """Close the unusable connections of this thread before and after the body."""
    _prepare()
    try:
        yield
    finally:
        close_old_connections()


def around_in_thread(_: Context, call_next: Callable[[], Any]) -> Any:
    """Middleware: fresh connections in the thread or the process of a synchronous handler."""
    with fresh_connections():
        return call_next()


async def around_on_loop(call_next: Callable[[], Awaitable[Any]]) -> Any:
    """Fresh connections in asgiref's thread, for an asynchronous handler."""
    await sync_to_async(_prepare)()
    try:
        return await call_next()
    finally:
        await sync_to_async(close_old_connections)()


def _prepare() -> None:
    reset_queries()
    close_old_connections()
    for connection in connections.all(initialized_only=True):
        vars(connection)["health_check_enabled"] = True
