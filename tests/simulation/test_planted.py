"""Planted bugs, many of them of other schedulers, are found by the promises that they break."""

import json
import re
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from click.testing import CliRunner

from simulation import seed_runs
from simulation.__main__ import main
from simulation.checkers import Violation

ROOT = Path(__file__).parents[2]
PLANTED = sorted(Path(__file__).with_name("planted").glob("*.py"))
WITHIN = 500


def test_there_are_at_least_thirty_eight_planted_bugs() -> None:
    assert len(PLANTED) >= 38


@pytest.mark.parametrize("file", PLANTED, ids=lambda file: file.stem)
def test_a_planted_bug_can_be_applied_to_the_source(file: Path) -> None:
    """A quick check after a refactoring: the searches below take minutes."""
    with seed_runs.load(file).planted():
        pass


@pytest.mark.timeout(600)
@pytest.mark.parametrize("file", PLANTED, ids=lambda file: file.stem)
def test_a_planted_bug_breaks_the_expected_promise(file: Path) -> None:
    bug = seed_runs.load(file)
    assert bug.__doc__
    assert bug.FOUND_AT < WITHIN
    planted: AbstractContextManager[None] = bug.planted()
    broken: list[Violation] = []
    with planted:
        for seed in (bug.FOUND_AT, *range(WITHIN)):  # first the one that found it last time
            _, _, broken = seed_runs.simulate(seed, seed_runs.store_of(bug))
            if broken:
                break
    named = {violation.invariant for violation in broken}
    assert named & bug.CAUGHT_BY, f"{file.stem} broke {named or 'nothing'}"


def test_a_planted_bug_is_removed_afterwards() -> None:
    bug = seed_runs.load(PLANTED[0])
    with bug.planted():
        pass
    _, _, broken = seed_runs.simulate(bug.FOUND_AT)
    assert broken == []


def test_a_violation_is_printed_with_the_command_that_reproduces_it() -> None:
    file = next(each for each in PLANTED if each.stem == "recomputed_from_now")
    first = str(seed_runs.load(file).FOUND_AT)
    arguments = ["--seeds", "1", "--first", first, "--workers", "1", "--plant", str(file)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    again = f"--seed {first} -v --plant {file}"
    assert f"python -m simulation {again}" in result.output
    assert re.search(
        rf"violations  \d+ in \d+ seeds?\n(.*\n)*seed {first}: S2 broken", result.output
    )
    replayed = run_main(*again.split())
    assert replayed.returncode == 1
    assert "S2 broken at" in replayed.stdout


def run_main(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process, because it plants its bug permanently."""
    command = [sys.executable, "-m", "simulation", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_search_counts_the_seeds_until_each_bug_is_found(tmp_path: Path) -> None:
    quick = next(each for each in PLANTED if each.stem == "recomputed_from_now")
    harmless = tmp_path / "harmless.py"
    harmless.write_text(
        "from contextlib import nullcontext as planted\nCAUGHT_BY = {'S1'}\n", encoding="utf-8"
    )
    (tmp_path / quick.name).write_text(quick.read_text(encoding="utf-8"), encoding="utf-8")
    within = seed_runs.load(quick).FOUND_AT + 1
    options = ["--planted", "--bugs", str(tmp_path), "--seeds", str(within), "-o", "json"]
    result = CliRunner().invoke(main, options)
    found = {each["bug"]: each for each in json.loads(result.stdout)}
    assert result.exit_code == 1, "one was not caught"
    assert found["recomputed_from_now"]["caught"]
    assert found["recomputed_from_now"]["seeds"] == within
    assert "S2" in found["recomputed_from_now"]["invariants"]
    assert not found["harmless"]["caught"]


def test_a_folder_without_planted_bugs_is_rejected(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--planted", "--bugs", str(tmp_path)])
    assert result.exit_code == 2
    assert "holds no planted bugs" in result.output
