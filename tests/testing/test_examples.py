"""The examples of docs/testing.md are run as they stand there, as a project of a user."""

import re
from pathlib import Path

import pytest

import drumbeat.testing

pytest_plugins = ["pytester"]

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
APP = "# hello.py\n"
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTINGS = re.compile(r"^```ini\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"^(?:async )?def test_", re.MULTILINE)


@pytest.mark.timeout(900)
def test_the_examples_in_the_docs_run(pytester: pytest.Pytester) -> None:
    page = PAGE.read_text(encoding="utf-8")
    app, *examples = EXAMPLE.findall(page)
    assert app.startswith(APP)
    tests = sum(len(TEST.findall(example)) for example in examples)
    assert tests
    (settings,) = SETTINGS.findall(page)
    pytester.makepyfile(hello=app, test_hello="\n\n".join(examples))
    pytester.makeini(settings)
    scope = "asyncio_default_fixture_loop_scope=function"
    run = pytester.runpytest_subprocess("-W", "error", "-o", "asyncio_mode=auto", "-o", scope)
    run.assert_outcomes(passed=tests)
    assert not list(pytester.path.glob("*.db"))


def test_every_public_name_is_in_the_docs() -> None:
    page = PAGE.read_text(encoding="utf-8")
    left_out = {"Drained", "Ticked"}  # what `drain` and `tick` return
    names = set(drumbeat.testing.__all__) - left_out
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", page)) == []
