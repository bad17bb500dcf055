"""Installs Debian packages, and unpacks packages of another suite.

The mirrors are those of the machine; none is named here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
POLICY = Path("/usr/sbin/policy-rc.d")
LOCK_PATIENCE = "300"


class NotInstalled(Exception):
    """A package could not be installed; the message says why and what to do."""


def install(packages: Sequence[str]) -> None:
    """Install packages of the system's suite without starting their services."""
    if os.geteuid() != 0:
        raise NotInstalled(f"only root can: sudo apt-get install {' '.join(packages)}")
    with _no_services():
        _update()
        _apt("install", "--yes", "--no-install-recommends", *packages)


def unpack(packages: Sequence[str], suite: str, folder: Path) -> None:
    """Unpack packages of another suite into a folder, without changing the state of apt."""
    with tempfile.TemporaryDirectory(prefix="drumbeat-suite-") as name:
        state = Path(name)
        for needed in ("sources", "lists/partial", "cache/archives/partial", "root"):
            (state / needed).mkdir(parents=True)
        (state / "sources" / "other.list").write_text(_source(suite), encoding="utf-8")
        options = [
            "Dir::Etc::SourceList=/dev/null",
            f"Dir::Etc::SourceParts={state / 'sources'}",
            f"Dir::State::Lists={state / 'lists'}",
            f"Dir::Cache={state / 'cache'}",
            "APT::Sandbox::User=root",  # the temporary folder belongs to root
        ]
        apart = [part for option in options for part in ("-o", option)]
        _apt(*apart, "update")
        _apt(*apart, "download", *packages, folder=state)
        for archive in state.glob("*.deb"):
            _run(["dpkg", "--extract", str(archive), str(state / "root")], state)
        # Move only complete packages, so that a failure leaves none behind.
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(state / "root", folder)


def _source(suite: str) -> str:
    """The source line of that suite, on the mirror of the machine."""
    listed = _apt("indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
    for line in listed.splitlines():
        address, _, release = line.partition(" ")
        if "-" not in release:  # the suite itself, without updates and security fixes
            signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
            return f"deb {signed}{address} {suite} main\n"
    raise NotInstalled("apt knows no Debian mirror; add one to /etc/apt/sources.list.d.")


@cache
def _update() -> None:
    """Update the package lists of the system, once."""
    _apt("update")


@contextmanager
def _no_services() -> Generator[None]:
    """Keep Debian from starting services while packages are installed."""
    if POLICY.exists():  # the machine has its own policy
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def _apt(*arguments: str, folder: Path | None = None) -> str:
    if shutil.which("apt-get") is None:
        raise NotInstalled("this is not Debian; install it yourself and put it on the PATH.")
    return _run(
        ["apt-get", "-qq", "-o", f"DPkg::Lock::Timeout={LOCK_PATIENCE}", *arguments], folder
    )


def _run(command: Sequence[str], folder: Path | None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotInstalled(f"`{' '.join(command)}` failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout
