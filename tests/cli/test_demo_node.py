"""A node of the demo does not outlive it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from drumbeat.demo.node import DemoSetting, command

NOT_FOREVER = 120.0


def test_a_node_ends_when_nobody_holds_its_input(tmp_path: Path) -> None:
    setting = DemoSetting(f"sqlite:///{tmp_path / 'demo.db'}", None, "demo", 3.0, 1, tmp_path)
    process = subprocess.Popen(
        [sys.executable, *command(setting, "one", ("scheduler", "worker"))], stdin=subprocess.PIPE
    )
    try:
        assert process.stdin is not None
        process.stdin.close()  # as it is when the demo is killed
        assert process.wait(NOT_FOREVER) == 1
    finally:
        process.kill()
        process.wait()
