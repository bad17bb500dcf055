"""The app of the fleets that the browser tests look at: tasks and schedules of every kind."""

from __future__ import annotations

import asyncio
from typing import Any

from drumbeat import Context, Drumbeat, Retry, cron, daily, every

app = Drumbeat(
    queues=("default", "mail", "reports", "slow"), heartbeat_every=0.5, node_lifetime=3, lease_ttl=3
)


@app.task(queue="mail")
async def send_receipt(order_id: int, note: str = "") -> str:
    return f"receipt for order {order_id} {note}".strip()


@app.task(queue="reports", retry=Retry.never())
async def charge_card(order_id: int) -> None:
    raise ValueError(f"card of order {order_id} was declined")


@app.task
async def echo(value: Any = None) -> Any:
    return value


@app.task(secret=("password",))
async def sign_in(user: str, password: str) -> str:
    return user


@app.task(queue="reports", retry=Retry.never())
async def explode(message: str) -> None:
    raise RuntimeError(message)


@app.task(queue="slow")
async def resize_images(ctx: Context, album: str = "summer", seconds: float = 600) -> str:
    never = asyncio.get_running_loop().create_future()
    for part in range(100):
        ctx.progress(part, 100, f"image {part} of {album}")
        await asyncio.wait([never], timeout=seconds / 100)
    return album


@app.scheduled(every(seconds=2), name="inventory/sync")
async def sync_inventory(ctx: Context) -> str:
    return "in step"


@app.scheduled(every(seconds=3), name="payments/settle", retry=Retry.never())
async def settle_payments(ctx: Context) -> None:
    raise ConnectionError("the bank does not answer")


@app.scheduled(cron("30 2 * * *", tz="Europe/Paris"), name="billing/nightly")
async def nightly_billing(ctx: Context) -> str:
    """Write the invoices of the day."""
    return "done"


@app.scheduled(daily(["06:00", "18:00"], tz="America/New_York"), name="reports/digest")
async def digest(ctx: Context) -> str:
    return "sent"


@app.scheduled(every(minutes=5), name="cache/warm")
async def warm_cache(ctx: Context) -> str:
    return "warm"
