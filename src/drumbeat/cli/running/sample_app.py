"""The sample app of `drumbeat dev`: a task and a schedule to play with."""

from __future__ import annotations

from drumbeat.app import Drumbeat
from drumbeat.engine.tasks.context import Context
from drumbeat.model.triggers import every

app = Drumbeat()


@app.task
async def greet(name: str = "world") -> str:
    """Say hello: `drumbeat job submit greet name=Anna --wait`."""
    return f"Hello, {name}!"


@app.scheduled(every(seconds=10))
async def heartbeat(ctx: Context) -> None:
    """Say that the time has come."""
    ctx.log.info("The sample schedule ticked", tick_at=ctx.tick_at)
