"""A release before `shop`: it has schedules that `shop` no longer declares."""

from __future__ import annotations

from typing import Any

from drumbeat import Drumbeat, cron

app = Drumbeat(heartbeat_every=0.5, node_lifetime=3, lease_ttl=3)


@app.task
async def echo(value: Any = None) -> Any:
    return value


app.schedule(echo, cron("0 5 * * *"), name="legacy/echo")


@app.scheduled(cron("0 4 * * *"), name="legacy/export")
async def export() -> None: ...
