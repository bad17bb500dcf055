"""A node of the demo does not outlive it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from drumbeat.demo.node import DemoSetting, command, make_app

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


def test_the_variables_of_a_fleet_do_not_concern_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSTGRES_DSN", "postgres://production/app")
    monkeypatch.setenv("ETCD_ENDPOINTS", "production:2379")
    monkeypatch.setenv("REDIS_URL", "production:6379")
    monkeypatch.setenv("WORKER_ID", "worker-1")
    monkeypatch.setenv("LEADER_ELECTION_ENABLED", "false")
    store = f"sqlite:///{tmp_path / 'demo.db'}"
    app, _ = make_app(DemoSetting(store, None, "demo", 3.0, 1, tmp_path), "one")
    used = app.settings
    assert (used.store, used.coordinator, used.queue) == (store, None, None)
    assert (used.instance_id, used.leader_election) == ("one", True)
