"""An app as the lifespan of a web app."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from drumbeat import Drumbeat

PATIENCE = 60

Message = MutableMapping[str, Any]


async def test_an_app_runs_for_as_long_as_a_web_app_does() -> None:
    app = Drumbeat("memory://", environment={})
    site = Starlette(routes=[Mount("/drumbeat", app.asgi())], lifespan=lambda _: app.running())
    asked, told = asyncio.Queue[Message](), asyncio.Queue[Message]()
    scope: Message = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}

    async with asyncio.timeout(PATIENCE):
        serving = asyncio.create_task(site(scope, asked.get, told.put))
        await asked.put({"type": "lifespan.startup"})
        assert await told.get() == {"type": "lifespan.startup.complete"}
        assert len(await app.nodes()) == 1
        await asked.put({"type": "lifespan.shutdown"})
        assert await told.get() == {"type": "lifespan.shutdown.complete"}
        await serving
