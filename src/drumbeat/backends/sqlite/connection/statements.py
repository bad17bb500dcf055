"""The statements of a `.sql` file, also for many rows at once."""

from __future__ import annotations

import re

from drumbeat.backends.sql.statement_files import NamedSql, read_statements

_ROW = re.compile(r"\((?:\s*\?\s*,)*\s*\?\s*\)")
_SIZES = (200, 100, 50, 10, 3, 1)


class Statement:
    """One statement. If it has a row of `?` marks, it can run for many rows at once."""

    __slots__ = ("_repeated", "name", "reason", "text")

    def __init__(self, sql: NamedSql) -> None:
        self.name, self.reason, self.text = sql
        self._repeated: dict[int, str] = {1: sql.text}

    def in_pieces(self, rows: int) -> list[tuple[int, str]]:
        """How to run it for so many rows: how many at a time, and the text for that many.

        SQLite releases the interpreter's lock at each step, and getting it back from a busy event
        loop takes up to five milliseconds. So many rows are one step.
        """
        pieces: list[tuple[int, str]] = []
        for size in _SIZES:
            times, rows = divmod(rows, size)
            if times:
                pieces += [(size, self._for(size))] * times
        return pieces

    def _for(self, rows: int) -> str:
        text = self._repeated.get(rows)
        if text is None:
            row = _ROW.search(self.text)
            assert row is not None, f"{self.name} has a row of marks"
            many = ", ".join([row.group()] * rows)
            text = self.text[: row.start()] + many + self.text[row.end() :]
            self._repeated[rows] = text
        return text


class Statements:
    """The statements of one file, as attributes."""

    def __init__(self, package: str, file: str) -> None:
        found = read_statements(package, file)
        self.all = {name: Statement(sql) for name, sql in found.items()}

    def __getattr__(self, name: str) -> str:
        return self.all[name].text

    def many(self, name: str) -> Statement:
        """A statement that takes many rows at once."""
        return self.all[name]
