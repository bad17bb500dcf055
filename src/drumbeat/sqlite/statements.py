"""Statements: SQL is read from `.sql` files, where each has a name and a reason.

```sql
-- name: forget_nodes
-- Forget nodes whose heartbeat ended so long ago, the oldest first.
DELETE FROM nodes WHERE ...;
```
"""

from __future__ import annotations

import re
from importlib.resources import files

_NAMED = re.compile(r"^-- name: *(\w+) *$", re.MULTILINE)
_ROW = re.compile(r"\((?:\s*\?\s*,)*\s*\?\s*\)")
_SIZES = (200, 100, 50, 10, 3, 1)


class Statement:
    """One statement; where it ends in a row of marks, also for many rows at once."""

    __slots__ = ("_repeated", "name", "reason", "text")

    def __init__(self, name: str, reason: str, text: str) -> None:
        self.name = name
        self.reason = reason
        self.text = text
        self._repeated: dict[int, str] = {1: text}

    def in_pieces(self, rows: int) -> list[tuple[int, str]]:
        """How to run it for so many rows: how many at a time, and the text for that many.

        One step for many rows: SQLite's steps let go of the interpreter's lock, and getting it
        back from a busy event loop costs up to five milliseconds each time.
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

    def __init__(self, package: str, name: str) -> None:
        source = files(package).joinpath(name).read_text(encoding="utf-8")
        self.all = {each.name: each for each in _parse(source, name)}

    def __getattr__(self, name: str) -> str:
        return self.all[name].text

    def many(self, name: str) -> Statement:
        """The statement that takes many rows at once."""
        return self.all[name]


def _parse(source: str, file: str) -> list[Statement]:
    parts = _NAMED.split(source)[1:]
    found: list[Statement] = []
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        lines = body.strip().splitlines()
        reason = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
        text = "\n".join(line for line in lines if not line.startswith("--"))
        assert reason, f"{file}: {name} says what it is for"
        found.append(Statement(name, " ".join(reason), text.strip().removesuffix(";")))
    assert len({each.name for each in found}) == len(found), f"{file}: every name is new"
    return found
