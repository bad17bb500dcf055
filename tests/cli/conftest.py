"""Fixtures of the command line's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from drumbeat.testing import FakeClock

from .support import Terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(FakeClock())
