"""Names in the docs can be imported and installed as the docs say."""

import ast
import importlib
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import drumbeat
from drumbeat.model import errors, events

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
CLASS = re.compile(r"(?<![\w.\"'/\[])[A-Z][a-z]\w*")
FIRST_CELL = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
OF_PYTHON = {"ExceptionGroup", "False", "None", "True"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def imports(page: Path) -> Iterator[tuple[str, str]]:
    """Each Drumbeat module and name that an example of the page imports."""
    for language, code in FENCED.findall(page.read_text(encoding="utf-8")):
        if language != "python":
            continue
        for node in ast.walk(ast.parse(textwrap.dedent(code))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("drumbeat"):
                yield from ((node.module or "", alias.name) for alias in node.names)


def exists(module: ModuleType, name: str) -> bool:
    """Whether a module has a name; those of `drumbeat.django` need settings of a project."""
    return name in getattr(module, "__all__", ()) or hasattr(module, name)


def inline_classes(text: str) -> set[str]:
    prose = FENCED.sub("", text)
    return {name for code in INLINE.findall(prose) for name in CLASS.findall(code)} - OF_PYTHON


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_import_names_that_exist(page: Path) -> None:
    missing = [
        f"from {module} import {name}"
        for module, name in imports(page)
        if not exists(importlib.import_module(module), name)
    ]
    assert missing == []


def test_every_class_in_the_reference_is_imported_from_drumbeat_as_it_says() -> None:
    text = read("docs/reference.md")
    assert "Import every class and function on this page from `drumbeat`." in text
    named = inline_classes(text)
    assert "JobSpec" in named
    assert named - set(drumbeat.__all__) == set()


def test_every_class_in_the_tables_of_errors_and_events_is_in_the_named_module() -> None:
    for page, module in (("docs/errors.md", errors), ("docs/events.md", events)):
        text = read(page)
        assert f"`{module.__name__}`" in text
        named = FIRST_CELL.findall(text)
        assert len(named) > 10
        assert [name for name in named if not hasattr(module, name)] == []


def test_every_wrapper_of_electors_is_imported_from_drumbeat_electors_as_it_says() -> None:
    text = read("docs/leadership.md").partition("## Electors around electors")[2]
    section = text.partition("\n## ")[0]
    assert "They are imported from `drumbeat.electors`." in section
    electors = importlib.import_module("drumbeat.electors")
    named = set(re.findall(r"^\| `(\w+)\(", section, re.MULTILINE))
    named |= inline_classes(section) - {"Drumbeat", "Error"}
    assert "LeaderAwareScheduler" in named
    assert [name for name in sorted(named) if not hasattr(electors, name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_installs_drumbeat_from_an_index(page: Path) -> None:
    """It is not released yet. Pages name the extra; only the README says how to install it."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"pip install ['\"]?drumbeat\b", text) == []


def test_the_readme_counts_the_alerts() -> None:
    words = [
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
    ]
    rules = read("deploy/prometheus-rules.yaml")
    alerts = len(re.findall(r"^\s*- alert:", rules, re.MULTILINE))
    assert re.findall(r"\b(\w+) alerts\b", read("README.md")) == [words[alerts - 10]]


def test_the_readme_lists_the_extras() -> None:
    tables = tomllib.loads(read("pyproject.toml"))
    (listed,) = re.findall(r"the extras are (.*?)\.", read("README.md"))
    assert re.findall(r"`(\w+)`", listed) == list(tables["project"]["optional-dependencies"])
