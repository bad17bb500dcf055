"""A fleet as shops have it, for pictures: some schedules are well, some fail, one is slow."""

from __future__ import annotations

import asyncio

from drumbeat import Context, Drumbeat, Retry, cron, every

app = Drumbeat(queues=("default", "mail", "reports"), heartbeat_every=0.5, node_lifetime=3)
PARIS, NEW_YORK = "Europe/Paris", "America/New_York"


async def took(seconds: float) -> None:
    """What a handler does for so long."""
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=seconds)


@app.task(queue="mail")
async def send_receipt(order_id: int) -> None:
    await took(2 + order_id % 7)


@app.scheduled(cron("*/5 * * * *"), name="inventory/sync")
async def sync_inventory(ctx: Context) -> str:
    await took(0.05)
    return "in step"


@app.scheduled(cron("*/10 * * * *"), name="payments/settle", retry=Retry.never())
async def settle_payments(ctx: Context) -> None:
    if ctx.tick_at is not None and ctx.tick_at.minute % 30 == 0:
        raise ConnectionError("the bank did not answer within 10 s")


@app.scheduled(cron("*/15 * * * *"), name="search/reindex", queue="reports")
async def reindex(ctx: Context) -> None:
    await took(0.4)


@app.scheduled(cron("0 * * * *", tz=PARIS), name="reports/hourly", queue="reports")
async def hourly_report(ctx: Context) -> None:
    await took(0.2)


@app.scheduled(cron("30 2 * * *", tz=PARIS), name="billing/nightly", tags=("money",))
async def nightly_billing(ctx: Context) -> str:
    """Write the invoices of the day."""
    return "done"


@app.scheduled(cron("0 6 * * mon-fri", tz=NEW_YORK), name="reports/digest", queue="mail")
async def digest(ctx: Context) -> None: ...


@app.scheduled(cron("*/20 * * * *"), name="mail/newsletter", queue="mail", retry=Retry.never())
async def newsletter(ctx: Context) -> None:
    raise TimeoutError("smtp.example.org: no greeting within 30 s")


@app.scheduled(every(minutes=30), name="cache/warm")
async def warm_cache(ctx: Context) -> None: ...


@app.scheduled(cron("15 */2 * * *"), name="backup/snapshot", queue="reports", tags=("disk",))
async def snapshot(ctx: Context) -> None:
    await took(1.5)


@app.scheduled(cron("7,37 * * * *"), name="sessions/expire")
async def expire_sessions(ctx: Context) -> None: ...


@app.scheduled(cron("45 3 1 * *", tz=PARIS), name="billing/monthly", tags=("money",))
async def monthly_billing(ctx: Context) -> None: ...


@app.scheduled(every(seconds=20), name="queue/heartbeat")
async def heartbeat(ctx: Context) -> None: ...
