"""The simulator bites: bugs of other schedulers, planted here, are found and called by name."""

import json
import re
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from click.testing import CliRunner

from simulation import runs
from simulation.__main__ import main
from simulation.checkers import Violation

ROOT = Path(__file__).parents[2]
PLANTED = sorted(Path(__file__).with_name("planted").glob("*.py"))
WITHIN = 500


def test_there_are_enough_of_them() -> None:
    assert len(PLANTED) >= 30


@pytest.mark.parametrize("file", PLANTED, ids=lambda file: file.stem)
def test_a_planted_bug_still_fits_the_source(file: Path) -> None:
    """A quick check after a refactoring: the hunts below take minutes."""
    with runs.load(file).planted():
        pass


@pytest.mark.timeout(600)
@pytest.mark.parametrize("file", PLANTED, ids=lambda file: file.stem)
def test_a_planted_bug_is_found_and_named(file: Path) -> None:
    bug = runs.load(file)
    assert bug.__doc__
    assert bug.FOUND_AT < WITHIN
    planted: AbstractContextManager[None] = bug.planted()
    broken: list[Violation] = []
    with planted:
        for seed in (bug.FOUND_AT, *range(WITHIN)):  # first the one that found it last time
            _, _, broken = runs.simulate(seed, runs.store_of(bug))
            if broken:
                break
    named = {violation.invariant for violation in broken}
    assert named & bug.CAUGHT_BY, f"{file.stem} broke {named or 'nothing'}"


def test_a_planted_bug_is_gone_afterwards() -> None:
    bug = runs.load(PLANTED[0])
    with bug.planted():
        pass
    _, _, broken = runs.simulate(bug.FOUND_AT)
    assert broken == []


def test_a_seed_that_finds_something_says_how_to_see_it_again() -> None:
    file = next(each for each in PLANTED if each.stem == "recomputed_from_now")
    first = str(runs.load(file).FOUND_AT)
    arguments = ["--seeds", "1", "--first", first, "--workers", "1", "--plant", str(file)]
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 1
    again = f"--seed {first} -v --plant {file}"
    assert f"python -m simulation {again}" in told.output
    assert re.search(rf"violations  \d+ in \d+ seeds?\n(.*\n)*seed {first}: S2 broken", told.output)
    replayed = run_main(*again.split())
    assert replayed.returncode == 1
    assert "S2 broken at" in replayed.stdout


def run_main(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: it plants its bug for good."""
    command = [sys.executable, "-m", "simulation", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_hunt_says_how_many_seeds_each_bug_took(tmp_path: Path) -> None:
    quick = next(each for each in PLANTED if each.stem == "recomputed_from_now")
    harmless = tmp_path / "harmless.py"
    harmless.write_text(
        "from contextlib import nullcontext as planted\nCAUGHT_BY = {'S1'}\n", encoding="utf-8"
    )
    (tmp_path / quick.name).write_text(quick.read_text(encoding="utf-8"), encoding="utf-8")
    within = runs.load(quick).FOUND_AT + 1
    options = ["--planted", "--bugs", str(tmp_path), "--seeds", str(within), "-o", "json"]
    told = CliRunner().invoke(main, options)
    found = {each["bug"]: each for each in json.loads(told.stdout)}
    assert told.exit_code == 1, "one was not caught"
    assert found["recomputed_from_now"]["caught"]
    assert found["recomputed_from_now"]["seeds"] == within
    assert "S2" in found["recomputed_from_now"]["invariants"]
    assert not found["harmless"]["caught"]


def test_a_folder_without_planted_bugs_is_told_of(tmp_path: Path) -> None:
    told = CliRunner().invoke(main, ["--planted", "--bugs", str(tmp_path)])
    assert told.exit_code == 2
    assert "holds no planted bugs" in told.output
