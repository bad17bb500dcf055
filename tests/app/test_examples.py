"""The examples run as they stand, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from servers import GivenMongo, Mongo

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


STORES = ["memory", "sqlite"]


@pytest.mark.parametrize("store", STORES)
def test_tasks_retry_and_their_history_is_kept(store: str, tmp_path: Path) -> None:
    address = "memory://" if store == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    told = run("retries_and_history.py", address)
    waited = "running -> pending -> running -> pending -> running"
    assert f"charge: queued -> {waited} -> completed" in told
    assert f"fax: queued -> {waited} -> failed" in told
    assert "send-report: pending -> running -> completed" in told
    assert "attempt 2: wait for a retry, PaymentDown: simulated failure of attempt 2" in told
    assert "attempt 3: fail, NoDialTone: no dial tone for 555-0100" in told


@pytest.mark.parametrize("coordinator", ["memory", "mongo"])
def test_only_the_leader_of_two_schedulers_works(
    request: pytest.FixtureRequest, coordinator: str
) -> None:
    address = "memory://"
    if coordinator == "mongo":
        server: Mongo | GivenMongo = request.getfixturevalue("mongo")
        address = server.address
    told = run("leader_aware_tasks.py", address)
    assert "instance-1 resigned\ninstance-2 did task 0\ninstance-2 did task 2" in told
    assert "instance-2 stopped\ninstance-1 did task 3" in told
    assert "the tokens of the three terms rise: True" in told
