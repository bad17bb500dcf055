"""The release before `shop`: it also had schedules that were removed since."""

from __future__ import annotations

from drumbeat import cron
from shop import app, echo

app.schedule(echo, cron("0 5 * * *"), name="legacy/echo")


@app.scheduled(cron("0 4 * * *"), name="legacy/export")
async def export() -> None: ...
