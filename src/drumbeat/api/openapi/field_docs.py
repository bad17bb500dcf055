"""Reads the docstrings of fields, which Python itself does not keep."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache


@cache
def field_docs(kind: type) -> dict[str, str]:
    """The docstring of each field, inherited ones included."""
    docs: dict[str, str] = {}
    for each in reversed(kind.__mro__[:-1]):
        docs |= _own_docs(each)
    return docs


def _own_docs(kind: type) -> dict[str, str]:
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):  # no source is there, or it is not Python's
        return {}
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef), "the source of a class is a class"
    docs: dict[str, str] = {}
    field: str | None = None
    for statement in definition.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                field = name
            case ast.Expr(value=ast.Constant(value=str(text))) if field is not None:
                docs[field] = " ".join(text.split())
                field = None
            case _:
                field = None
    return docs
