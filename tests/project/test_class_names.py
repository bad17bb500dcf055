"""No two public classes share a name, so that a search by name finds the right one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "drumbeat"
ALLOWED = {
    "Command": "Django finds the command of manage.py by this name; the others are our own",
    "LeaderView": "the names of wire structs are part of the OpenAPI document",
    "Outcome": "the root of Snooze and Cancel is public; that of ticks is in the OpenAPI document",
    "Problem": "RFC 9457 calls the body of an HTTP error so; the command line has its own errors",
}
SESSION = Path("cli", "session")
"""Adapters of the command line, named after the parts of `fleet` that they replace."""


def _public_classes() -> dict[str, list[tuple[Path, bool]]]:
    """The files of all public classes by name, and whether each is a protocol."""
    found: dict[str, list[tuple[Path, bool]]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE)
        if where.parts[0] == "testing" or where.is_relative_to(SESSION):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                bases = " ".join(ast.unparse(base) for base in node.bases)
                found[node.name].append((where, "Protocol" in bases))
    return found


def _namespace(where: Path) -> str:
    """Each backend is a separate namespace: no backend imports another, and each has a `Schema`."""
    return where.parts[1] if where.parts[0] == "backends" else "drumbeat"


def test_no_two_public_classes_of_one_namespace_share_a_name() -> None:
    """A protocol and the class that implements it may: both are the same concept."""
    shared = {
        name: [str(where) for where, _ in classes]
        for name, classes in _public_classes().items()
        if name not in ALLOWED
        and (namespaces := [_namespace(where) for where, protocol in classes if not protocol])
        and len(namespaces) != len(set(namespaces))
    }
    assert shared == {}


def test_a_name_is_allowed_only_while_it_is_shared() -> None:
    classes = _public_classes()
    assert [name for name in ALLOWED if len(classes.get(name, ())) < 2] == []
