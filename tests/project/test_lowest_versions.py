"""`make test` also tests the lowest versions that pyproject.toml allows, on supported Pythons."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REQUIREMENT = re.compile(r"(?P<name>[\w-]+)(\[\w+\])?>=(?P<floor>[\d.]+)(;.*)?")
PIN = re.compile(r"^(?P<name>[\w-]+)==(?P<version>[\w.]+)", re.MULTILINE)

REQUIREMENTS: list[str] = [
    *PROJECT["dependencies"],
    *(each for extra in PROJECT["optional-dependencies"].values() for each in extra),
]


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version without trailing zeros: `8.2` and `8.2.0` are the same."""
    found = [int(part) for part in version.split(".")]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def test_the_tested_lowest_versions_are_the_allowed_ones() -> None:
    text = (ROOT / "requirements-lowest.txt").read_text("utf-8")
    pinned = {pin["name"]: pin["version"] for pin in PIN.finditer(text)}
    for requirement in REQUIREMENTS:
        found = REQUIREMENT.fullmatch(requirement)
        assert found, f"{requirement!r} must have the form name>=version"
        assert numbers(pinned[found["name"]]) == numbers(found["floor"]), (
            f"{found['name']} {pinned[found['name']]} is tested and {requirement} is allowed: "
            f"delete its line in requirements-lowest.txt and run `make lock`"
        )


def test_make_test_accepts_exactly_the_supported_pythons() -> None:
    prefix = "Programming Language :: Python :: 3."
    said = [each[len(prefix) - 2 :] for each in PROJECT["classifiers"] if each.startswith(prefix)]
    script = (ROOT / "scripts" / "lowest").read_text("utf-8")
    accepted = re.search(r"^supported='([^']+)'", script, re.MULTILINE)
    assert accepted
    assert accepted[1].split() == said
    assert PROJECT["requires-python"] == f">={said[0]}"
    below_next = f"<3.{int(said[-1].partition('.')[2]) + 1}"
    assert f"python='>={said[0]},{below_next}'" in script


@pytest.mark.parametrize("target", ["test-locked", "test-lowest"])
def test_make_test_runs_both(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (rule,) = re.findall(r"^test:(.*?)##", makefile, re.MULTILINE)
    assert target in rule.split()
    assert "make test\n" in (ROOT / ".ci" / "run").read_text("utf-8")
