"""The runner distinguishes tests that find a mutant from tests that do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mutants.mutant import Mutant
from mutants.runner import Result, Verdict, run_all

FILE = "src/drumbeat/rules/planning/completion_interval.py"
FIND, REPLACE = "counted <= stored.cursor", "counted >= stored.cursor"
SENTENCE = (
    "tests/rules/planning/test_completion_interval.py"
    "::test_nothing_fires_in_time_that_is_accounted_for"
)
OTHER = "tests/rules/jobs/test_transitions.py"


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        pytest.param([SENTENCE], Verdict.CAUGHT, id="a test that fails"),
        pytest.param([OTHER], Verdict.SURVIVED, id="tests that pass"),
        pytest.param(["tests/rules/test_gone.py"], Verdict.UNPROVEN, id="no such test"),
    ],
)
def test_a_mutant_is_judged_by_its_tests(tests: Sequence[str], verdict: Verdict) -> None:
    reported: list[Result] = []
    mutant = Mutant("time runs backwards", FILE, FIND, REPLACE, tuple(tests))
    (result,) = run_all([mutant], 1, reported.append)
    assert (result.verdict, reported) == (verdict, [result])
