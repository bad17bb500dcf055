"""Runs the tests of `inside`, each file in a process of its own: Django has one project in each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

INSIDE = Path(__file__).parent / "inside"


@pytest.mark.parametrize("file", sorted(each.name for each in INSIDE.glob("*_cases.py")))
def test_inside(file: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", str(INSIDE / file)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
