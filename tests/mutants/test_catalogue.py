"""Every mutant of the catalogue can be planted in the current source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mutants.mutant import InvalidMutant, Mutant, read_catalogue

ROOT = Path(__file__).parents[2]
CONFORMANCE = ROOT / "src/drumbeat/testing/conformance"


@pytest.mark.parametrize("mutant", read_catalogue(), ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_source_and_names_tests_that_exist(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text()
    planted = mutant.plant(source)
    assert planted != source
    if mutant.file.endswith(".py"):
        ast.parse(planted)
    for test in mutant.tests:
        path, *names = test.partition("[")[0].split("::")
        assert (ROOT / path).exists(), test
        assert set(names) <= _names_in(ROOT / path), test


def _names_in(path: Path) -> set[str]:
    """Classes and functions of tests; a conformance suite inherits its tests from the package."""
    found = _defined_in(path)
    if any(name.startswith("Test") for name in found):
        found |= {name for suite in CONFORMANCE.rglob("*.py") for name in _defined_in(suite)}
    return found


def _defined_in(path: Path) -> set[str]:
    if path.is_dir():
        return set()
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


@pytest.mark.parametrize("source", ["", "a < b\na < b\n"])
def test_a_mutant_whose_text_does_not_occur_once_is_rejected(source: str) -> None:
    mutant = Mutant("boundary", "src/x.py", "a < b", "a <= b", ("tests/x.py",))
    with pytest.raises(InvalidMutant, match=r"'boundary'.*expected once"):
        mutant.plant(source)
