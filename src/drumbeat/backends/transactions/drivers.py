"""Drivers: how each family of connections runs one statement with one parameter."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from drumbeat.ports.caller_transaction import Insertion

Rows: TypeAlias = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Synchronous:
    """Connections whose calls block."""

    run: Callable[[Any, Insertion], Rows]


@dataclass(frozen=True, slots=True)
class Asynchronous:
    """Connections whose calls are awaited."""

    run: Callable[[Any, Insertion], Awaitable[Rows]]


async def _asyncpg(connection: Any, insertion: Insertion) -> Rows:
    rows: Rows = await connection.fetch(insertion.text % "$1", insertion.value)
    return rows


async def _psycopg(connection: Any, insertion: Insertion) -> Rows:
    # A plain cursor with plain tuples, whatever the caller's connection makes of either.
    psycopg = sys.modules["psycopg"]
    async with psycopg.AsyncCursor(connection, row_factory=psycopg.rows.tuple_row) as cursor:
        await cursor.execute(insertion.text, (insertion.value,))
        rows: Rows = await cursor.fetchall()
        return rows


def _psycopg_sync(connection: Any, insertion: Insertion) -> Rows:
    psycopg = sys.modules["psycopg"]
    with psycopg.Cursor(connection, row_factory=psycopg.rows.tuple_row) as cursor:
        cursor.execute(insertion.text, (insertion.value,))
        rows: Rows = cursor.fetchall()
        return rows


def _cursor(connection: Any, insertion: Insertion) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(insertion.text, (insertion.value,))
        rows: Rows = cursor.fetchall()
        return rows


async def _sqlalchemy(connection: Any, insertion: Insertion) -> Rows:
    result = await connection.execute(*_sqlalchemy_call(insertion))
    rows: Rows = result.all()
    return rows


def _sqlalchemy_sync(connection: Any, insertion: Insertion) -> Rows:
    rows: Rows = connection.execute(*_sqlalchemy_call(insertion)).all()
    return rows


def _sqlalchemy_call(insertion: Insertion) -> tuple[Any, dict[str, str]]:
    text = sys.modules["sqlalchemy"].text
    return text(insertion.text % ":jobs"), {"jobs": insertion.value}


DRIVERS: dict[tuple[str, str], Synchronous | Asynchronous] = {
    ("asyncpg", "Connection"): Asynchronous(_asyncpg),
    ("asyncpg", "PoolConnectionProxy"): Asynchronous(_asyncpg),
    ("psycopg", "AsyncConnection"): Asynchronous(_psycopg),
    ("psycopg", "Connection"): Synchronous(_psycopg_sync),
    ("psycopg2", "connection"): Synchronous(_cursor),
    ("sqlalchemy", "AsyncSession"): Asynchronous(_sqlalchemy),
    ("sqlalchemy", "async_scoped_session"): Asynchronous(_sqlalchemy),
    ("sqlalchemy", "AsyncConnection"): Asynchronous(_sqlalchemy),
    ("sqlalchemy", "Session"): Synchronous(_sqlalchemy_sync),
    ("sqlalchemy", "scoped_session"): Synchronous(_sqlalchemy_sync),
    ("sqlalchemy", "Connection"): Synchronous(_sqlalchemy_sync),
    ("django", "BaseDatabaseWrapper"): Synchronous(_cursor),
    ("django", "ConnectionProxy"): Synchronous(_cursor),
}
"""By the package and the name of a class; subclasses count."""


def driver_of(connection: object) -> Synchronous | Asynchronous | None:
    """The driver of a connection; None: it is not supported."""
    for kind in type(connection).__mro__:
        found = DRIVERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if found is not None:
            return found
    return None


def kind_of_database(connection: Any) -> str | None:
    """Which database a connection of SQLAlchemy or Django leads to; None: it does not say."""
    if getattr(connection, "vendor", None):  # Django
        return str(connection.vendor)
    bound = connection.get_bind() if hasattr(connection, "get_bind") else connection
    dialect = getattr(bound, "dialect", None)
    return None if dialect is None else str(dialect.name)
