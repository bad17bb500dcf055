"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from drumbeat.testing import FakeClock

from .support import RemoteTerminal, Terminal


@pytest.fixture(params=["local", "remote"])
def terminal(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[Terminal]:
    monkeypatch.chdir(tmp_path)
    """The command line over a store itself, and over a server before the same store."""
    monkeypatch.delenv("DRUMBEAT_SERVER", raising=False)
    clock = FakeClock()
    made = Terminal(clock) if request.param == "local" else RemoteTerminal(clock, tmp_path)
    yield made
    made.close()


@pytest.fixture
def at_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """For what only concerns whoever sits at the store itself."""
    monkeypatch.chdir(tmp_path)
    return Terminal(FakeClock())
