"""Simulated worlds: a seed always gives the same world, and hundreds of worlds break no promise."""

import gc
import json
import os
import re
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from simulation import rare_states, report, seed_runs
from simulation.__main__ import main
from simulation.checkers import (
    CHECKERS,
    SEPARATE_STORES,
    SERVER_WATCHERS,
    WATCHERS,
    Violation,
)
from simulation.faults import NOT_ON_SQLITE, OF_SQLITE, Fault, swarm_of_sqlite
from simulation.randomness import random_for
from simulation.sqlite import LoopMessenger, SteppedDatabase

ROOT = Path(__file__).parents[2]
SEEDS = 500
"""Enough for every rare state; `make simulate` runs more."""
SQLITE_SEEDS = 40
SQLITE_STATES = (
    "the late completion of a reaped worker was rejected",
    "a misfire was caught up",
    "a job was taken away from a dead node",
    "the answer to a commit was lost",
    "the answer to a take was lost",
)
"""States that these few worlds reach several times; rarer ones need 300 seeds or more."""
SOME = (1, 7, 22)
FINGERPRINTS = f"""
from simulation.seed_runs import fingerprint_of
print(*(fingerprint_of(seed) for seed in {SOME}))
"""


def run(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout


def test_the_same_seed_is_the_same_world_step_by_step() -> None:
    one = run("-c", FINGERPRINTS, PYTHONHASHSEED="1")
    other = run("-c", FINGERPRINTS, PYTHONHASHSEED="2")
    assert one == other
    assert one.split() == [seed_runs.fingerprint_of(seed) for seed in SOME]
    assert len(set(one.split())) == len(SOME)


@pytest.mark.timeout(2400)
def test_no_promise_is_broken_in_hundreds_of_worlds() -> None:
    found = run("-m", "simulation", "--seeds", str(SEEDS), "-o", "json")
    printed: dict[str, Any] = json.loads(found)
    assert printed["violations"] == []
    assert printed["unreached"] == []
    assert printed["seeds"] >= SEEDS
    assert set(printed["states"]) == set(rare_states.STATES)
    happened = set(printed["faults"])
    conditions = {Fault.LOSS, Fault.DELAY, Fault.DOUBLING}
    expected = set(Fault) - conditions - {Fault.CLOCK_CHANGE} - OF_SQLITE
    assert set(map(str, expected)) <= happened
    assert {"message lost", "message delayed", "message doubled"} <= happened


@pytest.mark.timeout(2400)
def test_no_promise_is_broken_on_sqlite() -> None:
    arguments = ("--store", "sqlite", "--seeds", str(SQLITE_SEEDS), "-o", "json")
    printed: dict[str, Any] = json.loads(run("-m", "simulation", *arguments))
    assert printed["violations"] == []
    assert printed["seeds"] == SQLITE_SEEDS
    happened = set(printed["faults"])
    assert set(map(str, OF_SQLITE)) <= happened
    assert not set(map(str, NOT_ON_SQLITE)) & happened
    assert {state for state in SQLITE_STATES if state not in printed["states"]} == set()


def test_the_same_seed_is_the_same_world_on_sqlite() -> None:
    code = "from simulation.seed_runs import fingerprint_of; print(fingerprint_of({}, 'sqlite'))"
    for seed in SOME[:2]:
        one = run("-c", code.format(seed), PYTHONHASHSEED="1")
        other = run("-c", code.format(seed), PYTHONHASHSEED="2")
        assert one == other


@pytest.mark.parametrize("kind", [SteppedDatabase, LoopMessenger])
def test_no_method_with_threads_or_sockets_is_inherited(kind: type[object]) -> None:
    ours = set(vars(kind))
    theirs = {name for name in vars(kind.__mro__[1]) if not name.startswith("_")}
    assert theirs - ours == set()


def kinds_of_sqlite(seed: int) -> frozenset[Fault]:
    return swarm_of_sqlite(frozenset(), random_for(seed, "faults of SQLite"))


def test_a_full_disk_reaches_the_store() -> None:
    full = next(seed for seed in range(50) if Fault.FULL_DISK in kinds_of_sqlite(seed))
    history = seed_runs.simulate(full, "sqlite")[1]
    assert any("the disk is full" in str(step.error) for step in history.requests)


def test_a_run_reports_the_rare_states_that_it_did_not_reach() -> None:
    result = seed_runs.Result(seeds=rare_states.ENOUGH_SEEDS)
    assert result.unreached == list(rare_states.STATES)


def test_the_transcript_of_a_seed_is_readable() -> None:
    result = CliRunner().invoke(main, ["--seed", "1", "-v"])
    assert result.exit_code == 0, result.output
    assert re.search(r"leads as epoch \d+", result.output)
    assert "healed: everything works from here on" in result.output
    assert "nothing broken" in result.output
    assert re.search(r"store\.insert: job \d+ created", result.output)
    assert not re.search(r"\.\w+: (list|tuple)\b", result.output), "every answer is described"


def test_regression_seeds_are_unique() -> None:
    assert seed_runs.regressions() == sorted(
        set(seed_runs.regressions()), key=seed_runs.regressions().index
    )


@pytest.mark.parametrize("seed", seed_runs.regressions())
def test_a_regression_seed_finds_no_violation(seed: int) -> None:
    assert seed_runs.simulate(seed)[2] == []


def test_seeds_with_violations_are_written_to_a_file(tmp_path: Path) -> None:
    kept = tmp_path / "failed.txt"
    report.keep(kept, seed_runs.Result(seeds=5))
    assert not kept.exists()
    broken = [Violation("S1", 2.0, "twice"), Violation("S3", 3.0, "no row")]
    report.keep(kept, seed_runs.Result(seeds=5, violations={9: broken, 4: broken[1:]}))
    report.keep(kept, seed_runs.Result(seeds=5, violations={12: broken}))
    assert [line.split()[0] for line in kept.read_text().splitlines()] == ["4", "9", "12"]


def test_progress_in_a_log_is_an_occasional_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress = report.Progress(3)
    for seeds in (1, 2, 3):
        progress.show(seed_runs.Result(seeds=seeds))
    assert capsys.readouterr().err == "3/3 seeds, 0 min 00 s left\n"


def test_a_world_leaks_no_memory() -> None:
    """Otherwise thousands of worlds would not fit into memory."""
    world, _, _ = seed_runs.simulate(3)
    gone = weakref.ref(world)
    del world
    gc.collect()
    assert gone() is None


def test_every_checker_says_which_promise_it_checks() -> None:
    watchers = [*SERVER_WATCHERS, *(each for several in WATCHERS.values() for each in several)]
    for check in (*CHECKERS, *SEPARATE_STORES, *watchers):
        assert check.__doc__ is not None
        assert check.__doc__[0] in "SL"
