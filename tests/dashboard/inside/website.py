"""A web app that has the dashboard below a path of its own."""

from __future__ import annotations

from fastapi import FastAPI

from drumbeat import Drumbeat, every
from drumbeat.fastapi import attach

app = Drumbeat()
site = FastAPI()
attach(site, app, mount="/tools/beat")


@app.scheduled(every(minutes=5), name="cache/warm")
async def warm_cache() -> str:
    return "warm"
