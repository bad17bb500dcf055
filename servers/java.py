"""Compiles a server that is written in Java, with libraries that Maven fetches.

Maven knows its repositories from the settings of the machine; none is named here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from servers.debian import NotInstalled, install
from servers.packages import JavaPackage


def build(package: JavaPackage) -> None:
    """Install the tools if they are missing, and compile the server into its folder."""
    if shutil.which("javac") is None or shutil.which("mvn") is None:
        install(package.debian)
    kept = package.folder.parent
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept, prefix="new-") as name:
        new = Path(name) / "built"
        libraries, classes = new / "libraries", new / "classes"
        shutil.copytree(package.source, new / "source")
        fetch = ("dependency:copy-dependencies", f"-DoutputDirectory={libraries}")
        _run(["mvn", "--quiet", "--batch-mode", "--strict-checksums", *fetch], new / "source")
        sources = [str(file) for file in sorted((new / "source").glob("*.java"))]
        _run(["javac", "-d", str(classes), "-cp", f"{libraries}/*", *sources], new)
        for older in kept.iterdir():
            if older != Path(name):
                shutil.rmtree(older)
        # Move only a complete build, so that a failure leaves none behind.
        new.rename(package.folder)


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        raise NotInstalled(f"`{' '.join(command[:1])}` failed: {said}")
