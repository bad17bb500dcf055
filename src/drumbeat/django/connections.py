"""Connections of Django around handlers, which run outside of any request.

A connection that its server has closed would fail every job of its thread for ever. So before and
after each run the connections of the handler's thread are closed if they are broken or older than
`CONN_MAX_AGE`, as Django does around requests. A connection that is kept is checked by its first
query, as with `CONN_HEALTH_CHECKS`: a restarted server costs the runs that it interrupts, no more.

Asynchronous handlers reach the database through asgiref's thread, so this is done there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connections, reset_queries


@contextmanager
def fresh_connections() -> Generator[None]:
    """Close the unusable connections of this thread before and after the body."""
    _prepare()
    try:
        yield
    finally:
        close_old_connections()


def with_fresh_connections(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler, with fresh connections around each run."""
    if inspect.iscoroutinefunction(handler):

        @wraps(handler)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            await sync_to_async(_prepare)()
            try:
                return await handler(*args, **kwargs)
            finally:
                await sync_to_async(close_old_connections)()

        return run_async

    @wraps(handler)
    def run(*args: Any, **kwargs: Any) -> Any:
        with fresh_connections():
            return handler(*args, **kwargs)

    return run


def own_handler(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The user's own handler within `with_fresh_connections`."""
    return cast("Callable[..., Any]", vars(handler)["__wrapped__"])


def _prepare() -> None:
    reset_queries()
    close_old_connections()
    for connection in connections.all(initialized_only=True):
        vars(connection)["health_check_enabled"] = True
