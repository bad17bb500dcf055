"""The simulator bites: bugs of other schedulers, planted here, are found and called by name."""

import importlib.util
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from drumbeat.testing.simulation import runs
from drumbeat.testing.simulation.__main__ import main
from drumbeat.testing.simulation.checkers import Violation

PLANTED = sorted(Path(__file__).with_name("planted").glob("*.py"))
WITHIN = 500


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"planted_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_enough_of_them() -> None:
    assert len(PLANTED) >= 12


@pytest.mark.timeout(600)
@pytest.mark.parametrize("file", PLANTED, ids=lambda file: file.stem)
def test_a_planted_bug_is_found_and_named(file: Path) -> None:
    bug = load(file)
    assert bug.__doc__
    planted: AbstractContextManager[None] = bug.planted()
    broken: list[Violation] = []
    with planted:
        for seed in (bug.FOUND_AT, *range(WITHIN)):  # first the one that found it last time
            _, _, broken = runs.simulate(seed)
            if broken:
                break
    named = {violation.invariant for violation in broken}
    assert named & bug.CAUGHT_BY, f"{file.stem} broke {named or 'nothing'}"


def test_a_planted_bug_is_gone_afterwards() -> None:
    bug = load(PLANTED[0])
    with bug.planted():
        pass
    _, _, broken = runs.simulate(bug.FOUND_AT)
    assert broken == []


def test_a_seed_that_finds_something_says_how_to_see_it_again() -> None:
    file = next(each for each in PLANTED if each.stem == "recomputed_from_now")
    first = str(load(file).FOUND_AT)
    arguments = ["--seeds", "1", "--first", first, "--workers", "1", "--plant", str(file)]
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 1
    assert f"python -m drumbeat.testing.simulation --seed {first} -v --plant {file}" in told.output
