"""What the tests on MongoDB share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from drumbeat.backends.mongo.connection.address import parse
from drumbeat.backends.mongo.connection.client import Client
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.engine.plumbing.runtime import SystemClock

LEAVING_CONNECTIONS = [
    pytest.mark.usefixtures("collected"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""The marks of tests whose client closes some connections only when it is collected."""
CLOCK = SystemClock()
PASSWORD = "hunter2"


def new_namespace() -> str:
    return f"test-{uuid4().hex}"


@asynccontextmanager
async def namespace_on(address: str) -> AsyncGenerator[str]:
    """A namespace of its own, whose collections are dropped in the end."""
    namespace = new_namespace()
    try:
        yield namespace
    finally:
        await drop(address, namespace)


async def drop(address: str, namespace: str) -> None:
    """Drop the collections of a namespace."""
    client = Client(parse(address))
    try:
        for name in await client.database.list_collection_names():
            if name.startswith(f"{namespace}."):
                await client.database.drop_collection(name)
    finally:
        await client.close()


@asynccontextmanager
async def connected(address: str, namespace: str) -> AsyncGenerator[Server]:
    """The layer under store and coordinator."""
    server = Server(parse(address), CLOCK, namespace)
    try:
        yield server
    finally:
        await server.close()
