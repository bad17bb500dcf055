"""The fourth source document's examples, as written, against processes on PostgreSQL.

Its scheduler and its workers are told where to listen by HTTP_ADDR and WORKER_HTTP_ADDR. What it
does not know of is the token: ours are closed by default.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time  # noqa: TID251 - of real processes
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from servers import Postgres

APP = """
from drumbeat import Drumbeat

app = Drumbeat()

@app.task
async def work(payload: str) -> str:
    return payload.upper()
"""
TOKEN = "a token of the test"
PATIENCE = 20.0


@dataclass(frozen=True)
class Fleet:
    """Where the processes listen."""

    scheduler: str
    worker: str

    def ask(self, method: str, path: str, body: Any = None, at: str = "") -> tuple[int, Any]:
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
        url = f"http://{at or self.scheduler}{path}"
        request = Request(url, data=sent, headers=headers, method=method)
        try:
            with urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as refused:
            return refused.code, json.loads(refused.read())


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def process(folder: Path, kind: str, *told: str, **environment: str) -> Generator[None]:
    """A node in a process of its own, once its log has told all that."""
    surroundings = {name: value for name, value in os.environ.items() if "DRUMBEAT" not in name}
    with subprocess.Popen(
        [sys.executable, "-m", "drumbeat", kind, "shop:app"],
        cwd=folder,
        env=surroundings | environment | {"PYTHONPATH": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        lines: list[str] = []
        for line in running.stderr:
            lines.append(line)
            if all(each in "".join(lines) for each in told):
                break
        else:
            pytest.fail("".join(lines))
        try:
            yield
        finally:
            running.terminate()
            _, rest = running.communicate(timeout=PATIENCE)
            assert running.returncode == 0, "".join([*lines, rest])


@pytest.fixture
def fleet(tmp_path: Path, postgres: Postgres) -> Generator[Fleet]:
    (tmp_path / "shop.py").write_text(APP, encoding="utf-8")
    ours = Fleet(f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")
    shared = {
        "POSTGRES_DSN": postgres.address,
        "DRUMBEAT_NAMESPACE": f"document_{os.getpid()}_{time.monotonic_ns()}",
        "DRUMBEAT_API_TOKEN": TOKEN,
        "DRUMBEAT_DEFAULT_TASK": "work",
        "LOG_LEVEL": "INFO",
        "LOG_FORMAT": "JSON",
    }
    names = {"LEADER_ELECTION_INSTANCE_ID": "scheduler-host-1"}
    scheduler = {**shared, **names, "HTTP_ADDR": ours.scheduler}
    worker = {**shared, "WORKER_ID": "worker-1", "WORKER_HTTP_ADDR": ours.worker}
    with (
        process(tmp_path, "scheduler", "Became the leader", "Listening at", **scheduler),
        process(tmp_path, "worker", "Listening at", **worker),
    ):
        yield ours


def test_the_examples_of_the_document_work_as_written(fleet: Fleet) -> None:
    body = {
        "payload": "task data",
        "priority": 5,
        "dedupe_key": "unique-key",
        "schedule_at": "2024-12-25T10:00:00Z",
    }
    status, created = fleet.ask("POST", "/jobs", body)
    assert status == 201
    assert {"id", "status", "created_at"} <= created.keys()
    again, existing = fleet.ask("POST", "/jobs", body)
    assert (again, existing["id"]) == (200, created["id"])

    status, job = fleet.ask("GET", f"/jobs/{created['id']}/wait?timeout=20")
    assert (status, job["status"]) == (200, "completed")
    assert fleet.ask("GET", f"/jobs/{created['id']}") == (200, job)
    assert job["worker_id"] == "worker-1"
    assert job["created_at"] <= job["started_at"] <= job["completed_at"]
    assert job["result"] == "TASK DATA"

    later = body | {"dedupe_key": "another", "schedule_at": "2124-12-25T10:00:00Z"}
    _, waiting = fleet.ask("POST", "/jobs", later)
    status, jobs = fleet.ask("GET", "/jobs?status=pending")
    assert status == 200
    assert [(each["id"], each["status"]) for each in jobs] == [(waiting["id"], "pending")]

    status, health = fleet.ask("GET", "/health")
    assert status == 200
    now = health.pop("timestamp")
    assert abs(now - time.time()) < 60
    expected = {
        "status": "healthy",
        "instance_id": "scheduler-host-1",
        "is_leader": True,
        "coordinator_health": True,
    }
    assert expected.items() <= health.items()

    status, leader = fleet.ask("GET", "/leader")
    assert (status, leader) == (
        200,
        {
            "current_leader": "scheduler-host-1",
            "is_leader": True,
            "instance_id": "scheduler-host-1",
        },
    )

    status, metrics = fleet.ask("GET", "/metrics")
    assert (status, metrics["completed_jobs"], metrics["pending_jobs"]) == (200, 1, 1)
    assert metrics.keys() == {
        "timestamp",
        "pending_jobs",
        "queued_jobs",
        "running_jobs",
        "completed_jobs",
        "failed_jobs",
        "jobs_dispatched",
        "last_dispatch",
    }

    status, worker = fleet.ask("GET", "/health", at=fleet.worker)
    assert (status, worker["instance_id"], worker["is_leader"]) == (200, "worker-1", False)
    status, metrics = fleet.ask("GET", "/metrics", at=fleet.worker)
    assert (status, metrics["completed_jobs"]) == (200, 1)
    assert metrics["last_dispatch"] <= time.time() + 60
