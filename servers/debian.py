"""Debian: how packages are installed there, and how those of another suite are unpacked.

The sources are those of the machine; nothing here names a mirror.
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
    """A package could not be installed; says why and what to do."""


def install(packages: Sequence[str]) -> None:
    """Install packages of the system's own suite, and start none of their services."""
    if os.geteuid() != 0:
        raise NotInstalled(f"only root can: sudo apt-get install {' '.join(packages)}")
    with _no_services():
        _update()
        _apt("install", "--yes", "--no-install-recommends", *packages)


def unpack(packages: Sequence[str], suite: str, folder: Path) -> None:
    """Unpack packages of another suite into a folder; the state of apt stays as it is."""
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
            "APT::Sandbox::User=root",  # the temporary folder is ours alone
        ]
        apart = [part for option in options for part in ("-o", option)]
        _apt(*apart, "update")
        _apt(*apart, "download", *packages, folder=state)
        for archive in state.glob("*.deb"):
            _run(["dpkg", "--extract", str(archive), str(state / "root")], state)
        # Only a whole package takes its place, however this ends.
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(state / "root", folder)


def _source(suite: str) -> str:
    """Where that suite is found: where the machine finds its own."""
    listed = _apt("indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
    for line in listed.splitlines():
        address, _, release = line.partition(" ")
        if "-" not in release:  # not the updates, not the security fixes: the suite itself
            signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
            return f"deb {signed}{address} {suite} main\n"
    raise NotInstalled("apt knows no Debian mirror; add one to /etc/apt/sources.list.d.")


@cache
def _update() -> None:
    """Bring the lists of the system up to date, once."""
    _apt("update")


@contextmanager
def _no_services() -> Generator[None]:
    """Tell Debian to start no service while packages are installed."""
    if POLICY.exists():  # somebody has decided already
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
        raise NotInstalled("this is not Debian; install it your way and put it on the PATH.")
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
