"""The demo on a store, a queue and a coordinator that are servers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from servers import Etcd, Postgres, Redis


@pytest.mark.timeout(600)
def test_a_fleet_on_three_servers_loses_its_leader_and_nothing_else(
    postgres: Postgres, redis: Redis, etcd: Etcd, tmp_path: Path
) -> None:
    addresses = ["--store", postgres.address, "--queue", redis.address]
    addresses += ["--coordinator", etcd.address]
    done = subprocess.run(
        [sys.executable, "-m", "drumbeat", "demo", *addresses, "--seconds", "12", "-o", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    proof = json.loads(done.stdout)
    assert proof["lost"] == proof["doubled"] == proof["jobs_lost"] == 0
    assert proof["ticks_due"] >= 12
    assert proof["failover_seconds"] is not None
