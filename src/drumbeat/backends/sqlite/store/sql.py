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


def read_rows(
    connection: sqlite3.Connection, statement: Statement, width: int, values: list[Any]
) -> Iterator[Any]:
    """What a statement finds for many rows, given as one flat list of values."""
    start = 0
    for rows, text in statement.in_pieces(len(values) // width):
        end = start + rows * width
        yield from connection.execute(text, values[start:end]).fetchall()
        start = end


def json_list(numbers: Iterable[int]) -> str:
    """Numbers as a JSON array, for statements that take many."""
    return f"[{','.join(map(str, numbers))}]"
