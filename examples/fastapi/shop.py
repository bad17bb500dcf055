"""A shop: orders over HTTP, receipts as jobs. Start it as often as you like.

uvicorn shop:site --port 8001
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException

from drumbeat import Context, Drumbeat, every
from drumbeat.fastapi import DrumbeatApp, attach
from drumbeat.model.errors import UnknownJob

app = Drumbeat("sqlite:///drumbeat.db")
receipts: dict[int, str] = {}


@app.task
async def send_receipt(order_id: int) -> str:
    receipts[order_id] = f"receipt for order {order_id}"
    return receipts[order_id]


@app.scheduled(every(minutes=5))
async def sweep(ctx: Context) -> None:
    ctx.log.info("sweeping", tick_at=ctx.tick_at)


@asynccontextmanager
async def own_lifespan(_: FastAPI) -> AsyncGenerator[None]:
    """Open here what handlers need, such as a pool of connections: it outlives the last job."""
    receipts.clear()
    yield


site = FastAPI(lifespan=own_lifespan)
attach(site, app, mount="/drumbeat")


@site.post("/orders/{order_id}", status_code=202)
async def place_order(order_id: int) -> dict[str, int]:
    job = await send_receipt.submit(order_id)
    return {"job": job.id}


@site.get("/jobs/{job_id}")
async def show_job(job_id: int, drumbeat: DrumbeatApp) -> dict[str, str | None]:
    try:
        job = await drumbeat.jobs.get(job_id)
    except UnknownJob as error:
        raise HTTPException(404, str(error)) from error
    return {"status": job.status, "receipt": send_receipt.result(job)}
