"""The examples run as they stand, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, *arguments: str, raises: str | None = None, **surroundings: str) -> str:
    """The output; the log shows no traceback but of the error that the example raises."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    raised = [line for line in done.stderr.splitlines() if line.startswith("Traceback")]
    own = 0 if raises is None else done.stderr.count(f"\n{raises}")
    assert len(raised) == own, done.stderr
    return done.stdout


def test_leader_election_changes_hands_three_times_and_doubles_nothing(tmp_path: Path) -> None:
    error = "CriticalError: the disk is full"
    told = run("leader_election.py", f"sqlite:///{tmp_path}/leader.db", raises=error)
    assert told.count("leads") == 4
    assert "0 of them twice" in told


def test_an_exclusive_update_refuses_its_rival(tmp_path: Path) -> None:
    told = run("exclusive_update.py", COORDINATOR=f"sqlite:///{tmp_path}/locks.db")
    assert "lock 'update-models' is held by instance-" in told
    assert "was cancelled: its limit was reached" in told
    assert "has updated 1,000 models" in told


def test_an_exclusive_update_needs_nothing_but_itself() -> None:
    assert "the ledger has its tick" in run("exclusive_update.py")
