"""Simple rules of the source: file lengths, machine paths, unfinished marks, clocks and sleeps."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "drumbeat"
CODE = ("src", "bench", "chaos", "mutants", "scripts", "servers", "simulation")
LONGEST_FILE = 400
WRITTEN_BY_HAND = {".lua", ".py", ".sql", ".svelte", ".ts"}
PICTURE = ".png"
GENERATED = {"uv.lock", "package-lock.json"}

MACHINE_PATH = re.compile(r"(?<![\w.])/(home|mnt|root|Users|work|workspace)/[\w.]")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
SLEEPERS = {"anyio", "asyncio", "time", "trio"}

CLOCK_MODULES = {
    "simulation/randomness.py",
    "src/drumbeat/engine/plumbing/runtime.py",
    "src/drumbeat/ports/runtime.py",
    "src/drumbeat/testing/clock.py",
    "src/drumbeat/testing/runtime.py",
}
"""The modules that may use the machine's time and randomness; all others have them injected."""


def tracked() -> list[Path]:
    """Every file that git tracks; running tests may write untracked ones."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = sorted({ROOT / name for name in listed.stdout.split("\0") if name})
    return [path for path in paths if path.is_file() and path.name not in GENERATED]


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    found: list[str] = []
    for path in tracked():
        if path.suffix == PICTURE:
            continue
        text = path.read_bytes().decode("utf-8", errors="ignore")
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def sleeps_in(source: str) -> Iterator[int]:
    """The lines that sleep by the machine's clock, or import such a sleep."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr="sleep") if module in SLEEPERS:
                yield node.lineno
            case ast.ImportFrom(module=str(module), names=names) if module in SLEEPERS:
                if any(alias.name == "sleep" for alias in names):
                    yield node.lineno
            case _:
                pass


def ruff(code: str, file: str) -> str:
    """The output of ruff for code in that file."""
    return subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", file, "-"],
        cwd=ROOT,
        input=code,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_no_source_file_is_too_long() -> None:
    sources = [
        path
        for folder in CODE
        for path in (ROOT / folder).rglob("*")
        if path.suffix in WRITTEN_BY_HAND
    ]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources}
    assert lengths
    assert [
        f"{path.relative_to(ROOT)} has {length} lines; does it still hold one noun?"
        for path, length in lengths.items()
        if length > LONGEST_FILE
    ] == []


def test_no_file_names_a_path_of_a_developers_machine() -> None:
    assert lines_with(MACHINE_PATH) == []


def test_no_file_has_an_unfinished_mark() -> None:
    assert lines_with(UNFINISHED) == []


@pytest.mark.parametrize("line", ["see /hom" + "e/anna/x", "'/roo" + "t/.cache'"])
def test_a_machine_path_is_recognised(line: str) -> None:
    assert MACHINE_PATH.search(line)


@pytest.mark.parametrize("line", ["GET https://example.org/home/page", "src/work/x", "/homework/x"])
def test_other_paths_are_allowed(line: str) -> None:
    assert not MACHINE_PATH.search(line)


def test_no_test_sleeps() -> None:
    tests = list((ROOT / "tests").rglob("*.py"))
    assert tests
    assert [
        f"{path.relative_to(ROOT)}:{line}: wait on an event or move the fake clock"
        for path in tests
        for line in sleeps_in(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "code", ["import time\ntime.sleep(1)", "from asyncio import sleep as nap", "asyncio.sleep(0)"]
)
def test_a_sleep_is_recognised(code: str) -> None:
    assert list(sleeps_in(code))


def test_the_sleep_of_an_injected_clock_is_allowed() -> None:
    assert list(sleeps_in("await clock.sleep(3)")) == []


@pytest.mark.parametrize(
    "code",
    [
        "import time",
        "from time import monotonic",
        "import random",
        "from random import Random",
        "import asyncio\n\n\nasync def nap() -> None:\n    await asyncio.sleep(1)",
        "from asyncio import sleep",
        "from datetime import datetime\n\nNOW = datetime.now()",
        "from datetime import datetime\n\nNOW = datetime.utcnow()",
        "from datetime import date\n\nTODAY = date.today()",
    ],
)
@pytest.mark.parametrize("folder", ["src/drumbeat/engine", "src/drumbeat/backends", "simulation"])
def test_ruff_bans_the_machines_time_and_randomness(folder: str, code: str) -> None:
    assert "TID251" in ruff(code + "\n", f"{folder}/planted.py")


def test_only_the_clock_modules_have_an_exception() -> None:
    lifted = {
        str(path.relative_to(ROOT))
        for folder in (PACKAGE, ROOT / "simulation")
        for path in folder.rglob("*.py")
        if re.search(r"noqa:.*\bTID251\b", path.read_text(encoding="utf-8"))
    }
    assert lifted - CLOCK_MODULES == set()
