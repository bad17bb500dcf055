"""Simulated worlds: a seed is always the same world, and no promise is broken in hundreds."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from drumbeat.testing.simulation import runs, sometimes
from drumbeat.testing.simulation.__main__ import main
from drumbeat.testing.simulation.checkers import CHECKERS
from drumbeat.testing.simulation.faults import Fault

SEEDS = 500
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


@pytest.mark.timeout(600)
def test_no_promise_is_broken_in_hundreds_of_worlds() -> None:
    found = run("-m", "drumbeat.testing.simulation", "--seeds", str(SEEDS), "-o", "json")
    told: dict[str, Any] = json.loads(found)
    assert told["violations"] == []
    assert told["unreached"] == []
    assert told["seeds"] >= SEEDS
    assert set(told["states"]) == set(sometimes.STATES)
    happened = set(told["faults"])
    weather = {Fault.LOSS, Fault.DELAY, Fault.DOUBLING}
    asked = {Fault.EDITS, Fault.CANCELS, Fault.CLOCK_CHANGE}
    assert set(map(str, set(Fault) - weather - asked)) <= happened
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


def test_known_seeds_are_run_first() -> None:
    assert runs.regressions() == sorted(set(runs.regressions()), key=runs.regressions().index)


def test_every_checker_says_which_promise_it_checks() -> None:
    for check in CHECKERS:
        assert check.__doc__ is not None
        assert check.__doc__[0] in "SL"
