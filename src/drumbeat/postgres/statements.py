"""Statements: SQL is read from `.sql` files, where each has a name and a reason.

```sql
-- name: forget_nodes
-- Forget nodes whose heartbeat ended so long ago, the oldest first.
DELETE FROM {schema}.nodes WHERE ...;
```
Marks stand for what differs between namespaces: `{schema}` for the quoted name of the schema, and
`{channels}` for a quoted text that the names of all its channels begin with, as in
`pg_notify({channels} || 'jobs', '')`.
"""

from __future__ import annotations

import re
from importlib.resources import files

_NAMED = re.compile(r"^-- name: *(\w+) *$", re.MULTILINE)


class Names:
    """The names that a namespace has in the database."""

    __slots__ = ("channels", "namespace", "schema")

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.schema = '"' + namespace.replace('"', '""') + '"'
        """The name of the schema, quoted."""
        self.channels = f"{namespace}:"
        """What the names of its channels begin with, not quoted."""

    def filled(self, text: str) -> str:
        """The text with the names in place of their marks."""
        literal = "'" + self.channels.replace("'", "''") + "'"
        return text.replace("{schema}", self.schema).replace("{channels}", literal)


class Bound:
    """The statements of one file for one namespace, as attributes."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def __getattr__(self, name: str) -> str:
        try:
            return self._texts[name]
        except KeyError:
            raise AttributeError(name) from None


class Statements:
    """The statements of one file, still with their marks."""

    def __init__(self, package: str, name: str) -> None:
        source = files(package).joinpath(name).read_text(encoding="utf-8")
        self.all = _parse(source, name)

    def of(self, names: Names) -> Bound:
        """The statements for one namespace: `SQL.of(database.names)`."""
        return Bound({name: names.filled(text) for name, text in self.all.items()})


def _parse(source: str, file: str) -> dict[str, str]:
    parts = _NAMED.split(source)[1:]
    found: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        lines = body.strip().splitlines()
        assert lines[0].startswith("--"), f"{file}: {name} says what it is for"
        assert name not in found, f"{file}: every name is new, {name} is not"
        text = "\n".join(line for line in lines if not line.startswith("--"))
        found[name] = text.strip().removesuffix(";")
    return found
