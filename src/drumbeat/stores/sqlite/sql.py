"""SQL: the statements of the store, by the file that they are in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from drumbeat.sqlite.statements import Statement, Statements

PACKAGE = "drumbeat.stores.sqlite.statements"

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
    """Run a statement for many rows, whose values stand one after the other, in few steps."""
    start = 0
    for rows, text in statement.in_pieces(len(values) // width):
        end = start + rows * width
        connection.execute(text, values[start:end])
        start = end


def read_rows(
    connection: sqlite3.Connection, statement: Statement, width: int, values: list[Any]
) -> Iterator[Any]:
    """What a statement finds for many rows, whose values stand one after the other."""
    start = 0
    for rows, text in statement.in_pieces(len(values) // width):
        end = start + rows * width
        yield from connection.execute(text, values[start:end]).fetchall()
        start = end


def listed(numbers: Iterable[int]) -> str:
    """Numbers as the JSON that statements take many of them in."""
    return f"[{','.join(map(str, numbers))}]"
