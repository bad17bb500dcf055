"""SQL statements from `.sql` files, for one namespace.

The texts have placeholders: `{schema}` for the quoted name of the schema, and `{channels}` for a
quoted text that the names of all its channels begin with, as in
`pg_notify({channels} || 'jobs', '')`.
"""

from __future__ import annotations

from drumbeat.backends.sql.statement_files import read_statements


class Names:
    """The names that a namespace has in the database."""

    __slots__ = ("channels", "namespace", "schema")

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.schema = '"' + namespace.replace('"', '""') + '"'
        """The quoted name of the schema."""
        self.channels = f"{namespace}:"
        """The beginning of the names of its channels, not quoted."""

    def filled(self, text: str) -> str:
        """The text with the names in place of the placeholders."""
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
    """The statements of one file, with placeholders."""

    def __init__(self, package: str, name: str) -> None:
        self.all = {each.name: each.text for each in read_statements(package, name).values()}

    def of(self, names: Names) -> Bound:
        return Bound({name: names.filled(text) for name, text in self.all.items()})
