"""Patches one SQL statement of a backend, to plant a bug."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.sql.statement_files import NamedSql
from drumbeat.backends.sqlite.connection.statements import Statement, Statements


@contextmanager
def patched(statements: Statements, name: str, old: str, new: str) -> Generator[None]:
    """Replace a text that occurs once in the statement."""
    statement = statements.all[name]
    assert statement.text.count(old) == 1, f"{name} does not contain {old!r} once"
    planted = Statement(NamedSql(name, statement.reason, statement.text.replace(old, new)))
    with patch.dict(statements.all, {name: planted}):
        yield
