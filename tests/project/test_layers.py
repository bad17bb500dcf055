"""The layers hold, and the contracts that hold them can be broken."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "drumbeat"
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"

PACKAGES = [
    "api",
    "cli",
    "coordinators",
    "dashboard",
    "electors",
    "engine",
    "model",
    "ports",
    "postgres",
    "queues",
    "redis",
    "remote",
    "rules",
    "sqlite",
    "stores",
    "telemetry",
    "testing",
    "transactions",
    "wiring",
]


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """A package with our layers and our contracts, and nothing in it but what the root imports."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "src" / "drumbeat"
    for name in PACKAGES:
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
        (package / name / "thing.py").touch()
    for name in ("app", "backends", "config", "extras", "version"):
        (package / f"{name}.py").touch()
    (package / "__init__.py").write_text("import drumbeat.app\n", encoding="utf-8")
    return tmp_path


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-logo", "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def imported_by(source: Path) -> set[str]:
    """The names of the top-level packages that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_an_empty_skeleton_keeps_every_contract(skeleton: Path) -> None:
    done = lint_imports(skeleton)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("model/thing.py", "drumbeat.rules.thing"),
        ("model/thing.py", "msgspec"),
        ("rules/thing.py", "msgspec"),
        ("rules/thing.py", "drumbeat.ports.thing"),
        ("ports/thing.py", "drumbeat.rules.thing"),
        ("ports/thing.py", "drumbeat.engine.thing"),
        ("engine/thing.py", "drumbeat.stores.thing"),
        ("engine/thing.py", "drumbeat.config"),
        ("engine/thing.py", "drumbeat"),
        ("stores/thing.py", "drumbeat.coordinators.thing"),
        ("queues/thing.py", "drumbeat.stores.thing"),
        ("queues/thing.py", "drumbeat.sqlite.thing"),
        ("queues/thing.py", "drumbeat.remote.thing"),
        ("sqlite/thing.py", "drumbeat.stores.thing"),
        ("telemetry/thing.py", "drumbeat.engine.thing"),
        ("api/thing.py", "drumbeat.dashboard.thing"),
        ("api/thing.py", "drumbeat.wiring"),
        ("wiring/thing.py", "drumbeat.cli.thing"),
        ("engine/thing.py", "drumbeat.electors.thing"),
        ("wiring/thing.py", "drumbeat.electors.thing"),
        ("cli/thing.py", "drumbeat.testing.thing"),
        ("engine/thing.py", "drumbeat.testing.thing"),
        ("__init__.py", "drumbeat.testing.thing"),
    ],
)
def test_a_planted_import_breaks_a_contract(skeleton: Path, module: str, planted: str) -> None:
    with (skeleton / "src" / "drumbeat" / module).open("a", encoding="utf-8") as file:
        file.write(f"import {planted}\n")
    done = lint_imports(skeleton)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"[1-9] broken", done.stdout), done.stdout + done.stderr
    assert planted in done.stdout


def test_a_module_without_a_place_in_the_layers_breaks_a_contract(skeleton: Path) -> None:
    (skeleton / "src" / "drumbeat" / "unplaced.py").touch()
    done = lint_imports(skeleton)
    assert done.returncode == 1
    assert "unplaced" in done.stdout


@pytest.mark.parametrize("layer", ["model", "rules"])
def test_a_pure_layer_imports_only_the_standard_library(layer: str) -> None:
    modules = list((PACKAGE / layer).rglob("*.py"))
    foreign = {
        str(module.relative_to(PACKAGE)): sorted(names)
        for module in modules
        if (names := imported_by(module) - sys.stdlib_module_names - {"drumbeat"})
    }
    assert modules
    assert foreign == {}
