"""The public API is typed: what is right passes both checkers, what is wrong passes neither."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RIGHT, WRONG = HERE / "right.py", HERE / "wrong.py"


def mypy() -> dict[str, set[int]]:
    """The lines in which mypy finds an error, by file. It shares its cache with `make check`."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(RIGHT), str(WRONG)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    found = re.findall(r"^\S*?(\w+)\.py:(\d+):.* error: ", run.stdout, re.MULTILINE)
    return lines([(name, int(line)) for name, line in found])


def pyright() -> dict[str, set[int]]:
    """The lines in which pyright finds an error, by file. Its settings lie beside the samples."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(HERE)]
    command += ["--pythonpath", sys.executable]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return lines(
        [
            (Path(found["file"]).stem, found["range"]["start"]["line"] + 1)
            for found in json.loads(run.stdout)["generalDiagnostics"]
            if found["severity"] == "error"
        ]
    )


def lines(found: list[tuple[str, int]]) -> dict[str, set[int]]:
    by_file: dict[str, set[int]] = {}
    for name, line in found:
        by_file.setdefault(name, set()).add(line)
    return by_file


def marked() -> set[int]:
    source = WRONG.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(source, start=1) if line.endswith("# wrong")}


@pytest.mark.timeout(600)  # both take their time, and more on a busy machine
@pytest.mark.parametrize("check", [mypy, pyright])
def test_each_checker_finds_every_mistake_and_nothing_else(check: object) -> None:
    assert callable(check)
    assert len(marked()) > 20
    assert check() == {"wrong": marked()}
