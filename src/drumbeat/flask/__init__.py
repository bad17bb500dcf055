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

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from flask import Flask

from drumbeat.app import Drumbeat
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.engine.tasks.task import Place
from drumbeat.flask.command_line import command
from drumbeat.model.errors import ConfigurationError

__all__ = ["FlaskDrumbeat"]

NAME = "drumbeat"
"""The key of the extension."""
_SITE: ContextVar[Flask | None] = ContextVar("drumbeat_flask_site", default=None)
"""The Flask app of a run, on its way from the event loop to the thread of the handler."""


class FlaskDrumbeat(Drumbeat):
    """A `Drumbeat` whose handlers run within the context of a Flask app."""

    _site: Flask | None = None

    def init_app(self, site: Flask) -> None:
        """Run handlers within the context of this Flask app.

        An app factory may be called again, as in tests: the last Flask app counts. The site also
        gets the command `flask drumbeat`.
        """
        site.extensions[NAME] = self
        site.cli.add_command(command)
        self._site = site

    def _surround(self, hooks: Hooks) -> None:
        hooks.add_middleware(self._around)
        hooks.add_middleware(_around_in_thread)

    async def _around(self, ctx: Context, call_next: Callable[[], Awaitable[Any]]) -> Any:
        """A new app context for each run on the event loop; a thread makes its own."""
        place = self._place_of(ctx)
        if place is Place.PROCESS:
            return await call_next()
        if self._site is None:
            raise ConfigurationError(
                "a handler needs the context of a Flask app: call init_app(site) before the start"
            )
        if place is Place.THREAD:
            _SITE.set(self._site)
            return await call_next()
        with self._site.app_context():
            return await call_next()


def _around_in_thread(_: Context, call_next: Callable[[], Any]) -> Any:
    """A new app context, whose teardown runs in the thread of the handler too."""
    site = _SITE.get()
    if site is None:  # the process of a handler has no Flask app
        return call_next()
    with site.app_context():
        return call_next()
