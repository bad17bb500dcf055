"""The examples of docs/testing.md are run as they stand there, as one file of tests."""

import re
from pathlib import Path

import pytest

import drumbeat.testing

pytest_plugins = ["pytester"]

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(900)
def test_the_examples_in_the_docs_run(pytester: pytest.Pytester) -> None:
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    tests = sum(example.count("async def test_") for example in examples)
    assert tests
    pytester.makepyfile("\n\n".join(examples))
    scope = "asyncio_default_fixture_loop_scope=function"
    run = pytester.runpytest_subprocess("-W", "error", "-o", "asyncio_mode=auto", "-o", scope)
    run.assert_outcomes(passed=tests)


def test_every_public_name_is_in_the_docs() -> None:
    page = PAGE.read_text(encoding="utf-8")
    left_out = {"Drained", "Ticked"}  # what `drain` and `tick` return
    names = set(drumbeat.testing.__all__) - left_out
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", page)) == []
