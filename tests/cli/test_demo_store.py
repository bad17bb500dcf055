"""The demo says at once where it cannot be played."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from drumbeat.cli.main import command


@pytest.mark.parametrize("what", ["store", "coordinator", "queue"])
def test_processes_cannot_share_what_is_in_memory(what: str) -> None:
    answer = CliRunner().invoke(command, ["demo", f"--{what}", "memory://"])
    assert answer.exit_code == 2
    assert f"several processes, which cannot share the {what} memory://" in answer.stderr
