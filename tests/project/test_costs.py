"""Rules that keep unbounded costs out of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "drumbeat"


def calls(name: str) -> Iterator[str]:
    """The places where a method of that name is called."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(attr=attr)) if attr == name:
                    yield f"{path.relative_to(PACKAGE)}:{node.lineno}"
                case _:
                    pass


def test_triggers_are_searched_within_a_budget() -> None:
    """Outside the model, `ticks_after` and `between` find ticks: their steps are counted."""
    unbounded = [where for where in calls("next_after") if not where.startswith("model/")]
    assert unbounded == []


def test_stored_json_is_shown_through_one_function() -> None:
    """`wire.values.raw` shows deep documents as text; elsewhere they would break every reader."""
    raw = {where.partition(":")[0] for where in calls("Raw")} - {
        "backends/etcd/connection/messages.py"
    }
    assert raw == {"wire/values.py"}


def test_lists_of_jobs_and_schedules_are_bounded_by_bytes() -> None:
    """A page of 1,000 jobs can have 500 MB: the fleet reads it through `bounded_page`."""
    unbounded: list[str] = []
    found = 0
    for path in sorted((PACKAGE / "fleet" / "local").glob("*.py")):
        tree = ast.parse(path.read_text())
        bounded = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "bounded_page"
            for inner in ast.walk(node)
        }
        found += len(bounded)
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr="list")) if (
                    ast.unparse(owner).rpartition(".")[2].lstrip("_") in ("jobs", "schedules")
                    and id(node) not in bounded
                ):
                    unbounded.append(f"{path.name}:{node.lineno}")
                case _:
                    pass
    assert found
    assert unbounded == []
