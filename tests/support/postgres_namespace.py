"""Namespaces for single tests in a shared PostgreSQL server, and statements outside of the app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from os import getpid

import psycopg

from drumbeat.engine.plumbing.runtime import SystemClock

SOON = 40.0
_serial = count(1)


def new_name() -> str:
    """A namespace that no other test uses."""
    return f"test_{getpid()}_{next(_serial)}"


@contextmanager
def namespace_in(address: str) -> Generator[str]:
    """A new namespace, whose schema is dropped at the end. The address must bypass any pooler."""
    name = new_name()
    yield name
    tell(address, f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


def ask(address: str, question: str) -> list[tuple[object, ...]]:
    """Query the server with psycopg, outside of the app."""
    with psycopg.connect(address, autocommit=True) as connection:
        return connection.execute(question.encode()).fetchall()


def tell(address: str, statement: str) -> None:
    """Execute a statement with psycopg, outside of the app."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement.encode())


def kill_connections(address: str) -> None:
    """End all other connections to the server, and wait until they have ended.

    Until then a pooler could still hand one of them out.
    """
    tell(
        address,
        f"SELECT pg_terminate_backend(pid, {SOON * 1000:.0f}) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )


async def until(true: Callable[[], bool], within: float = SOON) -> None:
    """Wait for an event that sends no notification."""
    async with asyncio.timeout(within):
        while not true():
            await SystemClock().sleep(0.02)
