"""The example project, copied for a test, and run in processes of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.support.processes import Node

EXAMPLE = Path(__file__).parents[2] / "examples" / "django"
PATIENCE = 120.0


class Project:
    """A copy of the example, with these variables in its environment."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder / "site"
        own = ("DRUMBEAT_", "POSTGRES_", "DJANGO_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        self.environment = {**kept, **variables, "PYTHONUNBUFFERED": "1"}
        shutil.copytree(
            EXAMPLE, self.folder, ignore=shutil.ignore_patterns("*.db*", "*.sqlite3", "__pycache__")
        )

    def manage(self, *arguments: str, code: int = 0) -> str:
        """Run a command of `manage.py`; return what it says."""
        done = subprocess.run(
            self._command(arguments),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    @contextmanager
    def managing(self, *arguments: str) -> Generator[Node]:
        """Run a command beside the body, and stop it at the end."""
        process = subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield Node(process)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-W", "error", "manage.py", *arguments]
