"""A server: a node that runs, works and serves the API on a port of this machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from drumbeat import Client, Drumbeat, Retry


def declare(app: Drumbeat) -> None:
    @app.task
    async def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    @app.task(retry=Retry.never())
    async def fail() -> None:
        raise ValueError("no such customer")

    @app.task(secret=("password",))
    async def log_in(user: str, password: str) -> None: ...


@pytest.fixture(params=["memory", "sqlite"])
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Drumbeat]:
    store = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/drumbeat.db"
    app = Drumbeat(store, environment={}, http_addr="127.0.0.1:0", instance_id="server")
    declare(app)
    async with app.running(["scheduler", "worker", "api"]):
        yield app


@pytest.fixture
async def client(app: Drumbeat) -> AsyncGenerator[Client]:
    async with Client(f"http://{app.addresses[0]}") as client:
        yield client
