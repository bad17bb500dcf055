"""Example projects that have tests of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PATIENCE = 200.0


def own_tests_pass_in(example: Path, folder: Path, count: int) -> None:
    """Assert that this many tests of a copy of the project pass and leave no file behind."""
    project = folder / example.name
    shutil.copytree(example, project, ignore=shutil.ignore_patterns("*.db*", "__pycache__"))
    before = {path.name for path in project.iterdir()}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"],
        cwd=project,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} passed" in done.stdout, done.stdout
    assert {path.name for path in project.iterdir()} == before
