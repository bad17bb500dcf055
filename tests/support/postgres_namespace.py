"""A namespace of its own for a test, in a server that all tests share."""

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
    """A namespace that no other test of any run has."""
    return f"test_{getpid()}_{next(_serial)}"


@contextmanager
def namespace_in(address: str) -> Generator[str]:
    """A new namespace, whose schema is dropped at the end. The address goes past any pooler."""
    name = new_name()
    yield name
    tell(address, f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


def ask(address: str, question: str) -> list[tuple[object, ...]]:
    """What the server answers, by a client that is not ours."""
    with psycopg.connect(address, autocommit=True) as connection:
        return connection.execute(question.encode()).fetchall()


def tell(address: str, statement: str) -> None:
    """Let the server do something that is not ours to do."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement.encode())


def kill_connections(address: str) -> None:
    """End every connection to the server but the one that asks for it. Waits until they are over.

    One that is about to end may still take a statement; a pooler would lend it to somebody.
    """
    tell(
        address,
        f"SELECT pg_terminate_backend(pid, {SOON * 1000:.0f}) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )


async def until(true: Callable[[], bool]) -> None:
    """Wait for what must come soon, but is told to nobody."""
    async with asyncio.timeout(SOON):
        while not true():
            await SystemClock().sleep(0.02)
