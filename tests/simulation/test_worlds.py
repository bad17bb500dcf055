"""Simulated worlds: a seed is always the same world, and no promise is broken in hundreds."""

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

from simulation import report, runs, sometimes
from simulation.__main__ import main
from simulation.chance import chance
from simulation.checkers import (
    APART,
    CHECKERS,
    SERVER_WATCHERS,
    WATCHERS,
    Violation,
)
from simulation.faults import NOT_ON_SQLITE, OF_SQLITE, Fault, swarm_of_sqlite
from simulation.sqlite import LoopMessenger, SteppedDatabase

ROOT = Path(__file__).parents[2]
SEEDS = 500
"""Enough for every rare state; `make simulate` is for more."""
SQLITE_SEEDS = 40
SQLITE_STATES = (
    "the completion of a reaped worker was refused",
    "a misfire was caught up",
    "a job was taken away from a dead node",
    "the answer to a commit was lost",
    "the answer to a take was lost",
)
"""States that so few worlds reach several times each; rarer ones need 300 seeds or more."""
SOME = (1, 7, 22)
FINGERPRINTS = (
    f"from simulation.runs import fingerprint_of;print(*(fingerprint_of(seed) for seed in {SOME}))"
)


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
    assert one.split() == [runs.fingerprint_of(seed) for seed in SOME]
    assert len(set(one.split())) == len(SOME)


@pytest.mark.timeout(2400)
def test_no_promise_is_broken_in_hundreds_of_worlds() -> None:
    found = run("-m", "simulation", "--seeds", str(SEEDS), "-o", "json")
    told: dict[str, Any] = json.loads(found)
    assert told["violations"] == []
    assert told["unreached"] == []
    assert told["seeds"] >= SEEDS
    assert set(told["states"]) == set(sometimes.STATES)
    happened = set(told["faults"])
    weather = {Fault.LOSS, Fault.DELAY, Fault.DOUBLING}
    expected = set(Fault) - weather - {Fault.CLOCK_CHANGE} - OF_SQLITE
    assert set(map(str, expected)) <= happened
    assert {"message lost", "message delayed", "message doubled"} <= happened


@pytest.mark.timeout(2400)
def test_no_promise_is_broken_on_sqlite() -> None:
    arguments = ("--store", "sqlite", "--seeds", str(SQLITE_SEEDS), "-o", "json")
    told: dict[str, Any] = json.loads(run("-m", "simulation", *arguments))
    assert told["violations"] == []
    assert told["seeds"] == SQLITE_SEEDS
    happened = set(told["faults"])
    assert set(map(str, OF_SQLITE)) <= happened
    assert not set(map(str, NOT_ON_SQLITE)) & happened
    assert {state for state in SQLITE_STATES if state not in told["states"]} == set()


def test_the_same_seed_is_the_same_world_on_sqlite() -> None:
    code = "from simulation.runs import fingerprint_of; print(fingerprint_of({}, 'sqlite'))"
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
    return swarm_of_sqlite(frozenset(), chance(seed, "faults of SQLite"))


def test_a_full_disk_reaches_the_store() -> None:
    full = next(seed for seed in range(50) if Fault.FULL_DISK in kinds_of_sqlite(seed))
    history = runs.simulate(full, "sqlite")[1]
    assert any("the disk is full" in str(step.error) for step in history.applied)


def test_too_tame_worlds_are_told_of() -> None:
    tame = runs.Result(seeds=sometimes.ENOUGH)
    assert tame.unreached == list(sometimes.STATES)


def test_the_story_of_a_seed_can_be_read() -> None:
    told = CliRunner().invoke(main, ["--seed", "1", "-v"])
    assert told.exit_code == 0, told.output
    assert "leads as epoch 1" in told.output
    assert "healed: everything works from here on" in told.output
    assert "nothing broken" in told.output
    assert re.search(r"store\.insert: job \d+ created", told.output)
    assert not re.search(r"\.\w+: (list|tuple)\b", told.output), "what became of it is told"


def test_known_seeds_are_run_first() -> None:
    assert runs.regressions() == sorted(set(runs.regressions()), key=runs.regressions().index)


@pytest.mark.parametrize("seed", runs.regressions())
def test_a_seed_that_once_found_something_finds_nothing_any_more(seed: int) -> None:
    assert runs.simulate(seed)[2] == []


def test_seeds_that_find_something_are_kept_in_a_file(tmp_path: Path) -> None:
    kept = tmp_path / "failed.txt"
    report.keep(kept, runs.Result(seeds=5))
    assert not kept.exists()
    broken = [Violation("S1", 2.0, "twice"), Violation("S3", 3.0, "no row")]
    report.keep(kept, runs.Result(seeds=5, violations={9: broken, 4: broken[1:]}))
    report.keep(kept, runs.Result(seeds=5, violations={12: broken}))
    assert [line.split()[0] for line in kept.read_text().splitlines()] == ["4", "9", "12"]


def test_progress_in_a_log_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    progress = report.Progress(3)
    for seeds in (1, 2, 3):
        progress.tell(runs.Result(seeds=seeds))
    assert capsys.readouterr().err == "3/3 seeds, 0 min 00 s left\n"


def test_a_world_leaves_nothing_behind() -> None:
    """Or thousands of them would not fit into memory."""
    world, _, _ = runs.simulate(3)
    gone = weakref.ref(world)
    del world
    gc.collect()
    assert gone() is None


def test_every_checker_says_which_promise_it_checks() -> None:
    watchers = [*SERVER_WATCHERS, *(each for several in WATCHERS.values() for each in several)]
    for check in (*CHECKERS, *APART, *watchers):
        assert check.__doc__ is not None
        assert check.__doc__[0] in "SL"
