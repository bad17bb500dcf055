"""The README's first example and the demos run, and its counts are right."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_first_example_runs_as_printed(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert example is not None, "the README has no Python example"
    script = tmp_path / "example.py"
    script.write_text(example[1], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "receipt for order 42"
    ticks = [line for line in lines if line.startswith("tick 2")]
    assert ticks == sorted(set(ticks))
    assert ticks, "at least three seconds have passed"


def test_the_readme_counts_the_planted_bugs() -> None:
    planted = [*(ROOT / "tests" / "simulation" / "planted").glob("[!_]*.py")]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"with {len(planted)} planted bugs" in readme


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["-m", "drumbeat", "demo", "--seconds", "10"], id="demo"),
        pytest.param([ROOT / "examples" / "three_nodes.py"], id="three nodes"),
    ],
)
def test_a_fleet_that_loses_its_leader_ends_with_a_proof(
    command: Sequence[str | Path], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "0 lost, 0 doubled"
