"""Statement files: SQL is kept in `.sql` files, where each statement has a name and a reason.

```sql
-- name: delete_nodes
-- Delete nodes whose heartbeat ended long ago, the oldest first.
DELETE FROM nodes WHERE ...;
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

_NAMED = re.compile(r"^-- name: *(\w+) *$", re.MULTILINE)


class NamedSql(NamedTuple):
    """One statement of a file."""

    name: str
    reason: str
    text: str


def read_statements(package: str, file: str) -> dict[str, NamedSql]:
    found = list(_parse(files(package).joinpath(file).read_text(encoding="utf-8"), file))
    by_name = {each.name: each for each in found}
    assert len(by_name) == len(found), f"{file}: two statements have the same name"
    return by_name


def _parse(source: str, file: str) -> Iterator[NamedSql]:
    parts = _NAMED.split(source)[1:]
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        lines = body.strip().splitlines()
        reason = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
        assert reason, f"{file}: {name} has no comment that says what it is for"
        text = "\n".join(line for line in lines if not line.startswith("--"))
        yield NamedSql(name, " ".join(reason), text.strip().removesuffix(";"))
