"""The statements of the store, by the file that they are in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from drumbeat.backends.sqlite.connection.statements import Statement, Statements

PACKAGE = "drumbeat.backends.sqlite.store.statements"

JOBS = Statements(PACKAGE, "jobs.sql")
CLAIMS = Statements(PACKAGE, "claims.sql")
VIEWS = Statements(PACKAGE, "views.sql")
SCHEDULES = Statements(PACKAGE, "schedules.sql")
NODES = Statements(PACKAGE, "nodes.sql")
RETENTION = Statements(PACKAGE, "retention.sql")
QUEUES = Statements(PACKAGE, "queues.sql")
AUDIT = Statements(PACKAGE, "audit.sql")
TOKENS = Statements(PACKAGE, "tokens.sql")


def write_rows(
    connection: sqlite3.Connection, statement: Statement, width: int, values: list[Any]
) -> None:
    """Run a statement for many rows, given as one flat list of values, in few steps."""
    start = 0
    for rows, text in statement.in_pieces(len(values) // width):
        end = start + rows * width
        connection.execute(text, values[start:end])
        start = end


class NewRows:
    """Rows of one transaction for one statement, until they are written."""

    __slots__ = ("_name", "_statements", "_width", "values")

    def __init__(self, statements: Statements, name: str, width: int) -> None:
        self._statements = statements
        self._name = name
        self._width = width
        self.values: list[Any] = []
        """The values of all rows, one after the other."""

    def write(self, connection: sqlite3.Connection) -> None:
        if self.values:
            values, self.values = self.values, []
            write_rows(connection, self._statements.many(self._name), self._width, values)


def read_rows(
    connection: sqlite3.Connection, statement: Statement, width: int, values: list[Any]
) -> Iterator[Any]:
    """What a statement finds for many rows, given as one flat list of values."""
    start = 0
    for rows, text in statement.in_pieces(len(values) // width):
        end = start + rows * width
        yield from connection.execute(text, values[start:end]).fetchall()
        start = end


def soonest(connection: sqlite3.Connection) -> int | None:
    """When the next pending job is due."""
    found = connection.execute(JOBS.soonest).fetchone()
    return int(found[0]) if found else None


def next_expiry(connection: sqlite3.Connection) -> int | None:
    """When the next job that no worker holds expires."""
    found = connection.execute(JOBS.next_expiry).fetchone()
    return int(found[0]) if found else None


def json_list(numbers: Iterable[int]) -> str:
    """Numbers as a JSON array, for statements that take many."""
    return f"[{','.join(map(str, numbers))}]"
