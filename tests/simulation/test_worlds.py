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

from drumbeat.testing.simulation import report, runs, sometimes
from drumbeat.testing.simulation.__main__ import main
from drumbeat.testing.simulation.checkers import (
    APART,
    CHECKERS,
    SERVER_WATCHERS,
    WATCHERS,
    Violation,
)
from drumbeat.testing.simulation.faults import Fault

SEEDS = 500
"""Enough for every rare state; `make simulate` is for more."""
SOME = (1, 7, 22)
FINGERPRINTS = (
    "from drumbeat.testing.simulation.runs import fingerprint_of;"
    f"print(*(fingerprint_of(seed) for seed in {SOME}))"
)


def run(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
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
    found = run("-m", "drumbeat.testing.simulation", "--seeds", str(SEEDS), "-o", "json")
    told: dict[str, Any] = json.loads(found)
    assert told["violations"] == []
    assert told["unreached"] == []
    assert told["seeds"] >= SEEDS
    assert set(told["states"]) == set(sometimes.STATES)
    happened = set(told["faults"])
    weather = {Fault.LOSS, Fault.DELAY, Fault.DOUBLING}
    assert set(map(str, set(Fault) - weather - {Fault.CLOCK_CHANGE})) <= happened
    assert {"message lost", "message delayed", "message doubled"} <= happened


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
