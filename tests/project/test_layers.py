"""The layer contracts hold, and each of them detects a violation."""

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

BACKENDS = ["sqlite", "postgres", "mongo", "redis", "etcd", "consul", "memory"]
PACKAGES = [
    "api",
    "backends",
    "cli",
    "dashboard",
    "electors",
    "engine",
    "fleet",
    "fleet/local",
    "fleet/remote",
    "model",
    "ports",
    "rules",
    "telemetry",
    "testing",
    "wiring",
    *(f"backends/{name}" for name in ("http", *BACKENDS)),
    *(f"backends/{name}/{part}" for name in BACKENDS for part in ("connection", "store")),
    "backends/sqlite/coordinator",
]


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """A minimal package with the same layers and contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "src" / "drumbeat"
    for name in PACKAGES:
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
        if name not in ("backends", "fleet") and name.removeprefix("backends/") not in BACKENDS:
            (package / name / "thing.py").touch()
    for name in ("app", "backend_factory", "config", "extras", "version"):
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
    """The top-level packages that a module imports, anywhere in it."""
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


def test_the_skeleton_keeps_every_contract(skeleton: Path) -> None:
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
        ("engine/thing.py", "drumbeat.backends.sqlite.store.thing"),
        ("engine/thing.py", "drumbeat.config"),
        ("engine/thing.py", "drumbeat"),
        ("backends/sqlite/store/thing.py", "drumbeat.engine.thing"),
        ("backends/sqlite/store/thing.py", "drumbeat.config"),
        ("backends/sqlite/store/thing.py", "drumbeat.backends.postgres.connection.thing"),
        ("backends/sqlite/store/thing.py", "drumbeat.backends.sqlite.coordinator.thing"),
        ("backends/sqlite/connection/thing.py", "drumbeat.backends.sqlite.store.thing"),
        ("backends/http/thing.py", "drumbeat.backends.etcd.connection.thing"),
        ("telemetry/thing.py", "drumbeat.engine.thing"),
        ("api/thing.py", "drumbeat.dashboard.thing"),
        ("engine/thing.py", "drumbeat.fleet.local.thing"),
        ("fleet/local/thing.py", "drumbeat.fleet.remote.thing"),
        ("fleet/remote/thing.py", "drumbeat.fleet.local.thing"),
        ("fleet/remote/thing.py", "drumbeat.engine.thing"),
        ("fleet/local/thing.py", "drumbeat.api.thing"),
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


def test_the_map_in_contributing_names_exactly_the_packages() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| package | what | may import |\n")[2].partition("\n\n")[0]
    first = "".join(row.split("|")[1] for row in table.splitlines()[1:])
    named = set(re.findall(r"`(\w+)`", first))
    packages = {
        module.stem
        for module in PACKAGE.iterdir()
        if (module / "__init__.py").is_file() or module.suffix == ".py"
    }
    assert named == packages - {"__init__", "__main__", "testing"}
    for folder in ("engine", "backends"):
        rooms = {each.parent.name for each in (PACKAGE / folder).glob("*/__init__.py")}
        missing = {room for room in rooms if f"`{room}`" not in table}
        assert missing == set(), f"CONTRIBUTING.md does not say what is in {folder}/{missing}"


def test_contributing_names_every_top_level_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| folder | what |\n")[2].partition("\n\n")[0]
    named = {row.split("`")[1] for row in table.splitlines()[1:]}
    listed = subprocess.run(
        ["git", "ls-tree", "-d", "--name-only", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    folders = {name for name in listed.stdout.split() if not name.startswith(".")}
    assert named == folders - {"src"}
