"""Drumbeat in a FastAPI app: one call runs it with the site, mounts its API and provides it.

```python
site = FastAPI(lifespan=my_own)
attach(site, app, mount="/drumbeat")

@site.post("/orders/{order_id}")
async def order(order_id: int, drumbeat: DrumbeatApp) -> dict[str, int]: ...
```
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, FastAPI
from starlette.requests import HTTPConnection

from drumbeat.app import ROLES, Drumbeat
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.fleet.node import Role
from drumbeat.model.time.duration import Duration

__all__ = ["DrumbeatApp", "attach", "attached_app", "lifespan"]

Lifespan: TypeAlias = Callable[[Any], AbstractAsyncContextManager[Any]]
ATTRIBUTE = "drumbeat"
"""Where the state of a site keeps its app."""


def attach(
    site: FastAPI,
    app: Drumbeat,
    *,
    roles: Iterable[Role | str] | None = ROLES,
    mount: str | None = None,
) -> None:
    """Run the app as long as the site is served, within the site's own lifespan.

    `roles=None` only connects it, for a site that submits jobs and leaves them to other nodes.
    `mount` serves the HTTP API under a path. Handlers get the app with `DrumbeatApp`.
    """
    if hasattr(site.state, ATTRIBUTE):
        raise ConfigurationError("the site has a Drumbeat app already; attach is called once")
    setattr(site.state, ATTRIBUTE, app)
    site.router.lifespan_context = lifespan(app, site.router.lifespan_context, roles=roles)
    if mount is not None:
        site.mount(mount, app.asgi())


def lifespan(
    app: Drumbeat,
    own: Lifespan | None = None,
    *,
    roles: Iterable[Role | str] | None = ROLES,
    wait: Duration = 0.0,
) -> Lifespan:
    """A lifespan that runs the app within your own: `FastAPI(lifespan=lifespan(app, my_own))`.

    What your own opens is there before the first job starts, and is closed after the last.
    """

    @asynccontextmanager
    async def combined(site: Any) -> AsyncGenerator[Any]:
        running = app.connected() if roles is None else app.running(roles, wait=wait)
        if own is None:
            async with running:
                yield
            return
        async with own(site) as state, running:
            yield state

    return combined


def attached_app(connection: HTTPConnection) -> Drumbeat:
    """The app of the site that serves this request; tests may override this dependency."""
    found: object = getattr(connection.app.state, ATTRIBUTE, None)
    if not isinstance(found, Drumbeat):
        raise ConfigurationError("the site has no Drumbeat app: call drumbeat.fastapi.attach")
    return found


DrumbeatApp: TypeAlias = Annotated[Drumbeat, Depends(attached_app)]
"""A parameter of a path operation that is the app of the site."""
