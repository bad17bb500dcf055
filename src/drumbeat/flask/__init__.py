"""Drumbeat in a Flask app: handlers run within the app context.

```python
drumbeat = FlaskDrumbeat("sqlite:///drumbeat.db")

@drumbeat.task
def send_receipt(order_id: int) -> None: ...

def create_app() -> Flask:
    site = Flask(__name__)
    drumbeat.init_app(site)
    return site
```
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from typing import Any

from flask import Flask

from drumbeat.app import Drumbeat
from drumbeat.engine.tasks.context import CURRENT
from drumbeat.engine.tasks.handle import HandlerTask
from drumbeat.engine.tasks.task import TaskDefinition
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.schedules.schedule import Schedule

__all__ = ["FlaskDrumbeat"]

NAME = "drumbeat"
"""The key of the extension."""
_ENTERED: ContextVar[object] = ContextVar("drumbeat_flask_entered", default=None)
"""The run whose context was entered last."""


class FlaskDrumbeat(Drumbeat):
    """A `Drumbeat` whose handlers run within the context of a Flask app."""

    _site: Flask | None = None

    def init_app(self, site: Flask) -> None:
        """Run handlers within the context of this Flask app.

        An app factory may be called again, as in tests: the last Flask app counts.
        """
        site.extensions[NAME] = self
        self._site = site

    @contextmanager
    def _context(self) -> Generator[None]:
        """A new app context for a run of a job; a direct call stays in that of its caller."""
        running = CURRENT.get(None)
        if running is None or running is _ENTERED.get():
            yield
            return
        if self._site is None:
            raise ConfigurationError(
                "a handler needs the context of a Flask app: call init_app(site) before the start"
            )
        token = _ENTERED.set(running)
        try:
            with self._site.app_context():
                yield
        finally:
            _ENTERED.reset(token)

    def _register(
        self, definition: TaskDefinition, schedule: Schedule | None
    ) -> HandlerTask[..., Any, ..., Any]:
        handler = _within(self._context, definition.handler)
        return super()._register(replace(definition, handler=handler), schedule)


def _within(
    context: Callable[[], AbstractContextManager[Any]], handler: Callable[..., Any]
) -> Callable[..., Any]:
    """The handler, each run of which is within a context of its own."""
    if inspect.iscoroutinefunction(handler):

        @wraps(handler)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            with context():
                return await handler(*args, **kwargs)

        return run_async

    @wraps(handler)
    def run(*args: Any, **kwargs: Any) -> Any:
        with context():
            return handler(*args, **kwargs)

    return run
