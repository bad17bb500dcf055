"""The README's first example runs as it is printed."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_first_example_runs_as_printed(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert example is not None, "the README has no Python example"
    script = tmp_path / "example.py"
    script.write_text(example[1], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "receipt for order 42"
    assert sum(line.startswith("tick 2") for line in lines) in (2, 3)


def test_the_demo_ends_with_its_proof() -> None:
    demo = ROOT / "examples" / "demo.py"
    done = subprocess.run(
        [sys.executable, demo], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "0 lost, 0 doubled"
