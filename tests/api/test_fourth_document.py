"""The fourth source document's examples, as written: a scheduler and two workers on its servers.

The requests are made by curl, the load by many callers at once, as `ab -n 10000 -c 100` does it.
What the document does not know of is the token: ours are closed by default.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from drumbeat.engine.plumbing.runtime import SystemClock
from servers import Etcd, Postgres, Redis
from servers.ports import free_port
from tests.support.processes import PATIENCE, Node

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster" / "jobs.py"
TOKEN = "a-token-of-this-very-test"
REQUESTS = 10_000
CALLERS = 100

CREATE = """{
  "payload": "task data",
  "priority": 5,
  "dedupe_key": "unique-key",
  "schedule_at": "2024-12-25T10:00:00Z"
}"""


@dataclass
class Site:
    """The processes of the document, and how to ask them."""

    scheduler: str
    worker: str

    def curl(self, *arguments: str, at: str | None = None) -> tuple[int, Any]:
        """The status and the JSON that curl gets; the last argument is the path."""
        *options, path = arguments
        token = ("-H", f"Authorization: Bearer {TOKEN}")
        url = f"http://{at or self.scheduler}{path}"
        done = subprocess.run(
            ["curl", "-sS", "-w", "\n%{http_code}", *token, *options, url],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        body, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(body)

    def health(self, at: str) -> Any:
        """What a node says of itself once it is healthy: its backends have a second to answer."""
        give_up_at = SystemClock().elapsed() + PATIENCE
        while True:
            status, health = self.curl("/health", at=at)
            if status == 200:
                assert health["status"] == "healthy"
                return health
            assert SystemClock().elapsed() < give_up_at, health

    def create(self, body: str) -> tuple[int, Any]:
        """POST /jobs."""
        return self.curl("-X", "POST", "-H", "Content-Type: application/json", "-d", body, "/jobs")


@pytest.fixture(scope="module")
def site(
    postgres: Postgres, redis: Redis, etcd: Etcd, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    if shutil.which("curl") is None:
        pytest.skip("NOT TESTED: curl is missing; apt-get install curl")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(EXAMPLE, folder)
    scheduler, worker, other = (f"127.0.0.1:{free_port()}" for _ in range(3))
    common = {
        "POSTGRES_DSN": f"{postgres.address.replace('postgresql', 'postgres', 1)}?sslmode=disable",
        "REDIS_URL": f"127.0.0.1:{redis.port}",
        "ETCD_ENDPOINTS": etcd.address.removeprefix("etcd://"),
        "REDIS_STREAM_NAME": "jobs",
        "REDIS_GROUP_NAME": "workers",
        "DRUMBEAT_NAMESPACE": f"site_{os.getpid()}",
        "DRUMBEAT_API_TOKEN": TOKEN,
        "LOG_LEVEL": "INFO",
        "LOG_FORMAT": "JSON",
    }
    ours = (
        ("scheduler", {"HTTP_ADDR": scheduler}, "Became the leader"),  # and listens, in any order
        ("worker", {"WORKER_ID": "worker-1", "WORKER_HTTP_ADDR": worker}, "Node started"),
        ("worker", {"WORKER_ID": "worker-2", "WORKER_HTTP_ADDR": other}, "Node started"),
    )
    nodes = [_start(folder, role, {**common, **settings}) for role, settings, _ in ours]
    try:
        for node, (_, _, words) in zip(nodes, ours, strict=True):
            node.says_all(words, "Listening at")
        yield Site(scheduler, worker)
    finally:
        for node in nodes:
            node.process.terminate()
        ended = [node.ended() for node in nodes]
        for node in nodes:
            node.reading.join(PATIENCE)
    assert ended == [0, 0, 0]


def _start(folder: Path, role: str, settings: dict[str, str]) -> Node:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return Node(
        subprocess.Popen(
            [sys.executable, "-m", "drumbeat", role, "jobs:app"],
            cwd=folder,
            env={**kept, **settings, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    )


def test_a_job_is_created_shown_and_found_by_its_key_again(site: Site) -> None:
    status, job = site.create(CREATE)
    assert status == 201
    assert {"id", "status", "created_at"} <= job.keys()
    status, again = site.create(CREATE)
    assert (status, again["id"]) == (200, job["id"])
    status, done = site.curl(f"/jobs/{job['id']}/wait?timeout=60")
    assert status == 200
    status, shown = site.curl(f"/jobs/{job['id']}")
    assert status == 200
    assert shown == done
    assert shown["status"] == "completed"
    assert shown["result"] == "TASK DATA"
    assert shown["worker_id"] in ("worker-1", "worker-2")
    assert shown["created_at"] <= shown["started_at"] <= shown["completed_at"]


def test_jobs_are_listed_by_their_status(site: Site) -> None:
    _, job = site.create('{"payload": "later", "schedule_at": "2099-12-25T10:00:00Z"}')
    assert job["status"] == "pending"
    status, pending = site.curl("/jobs?status=pending")
    assert status == 200
    assert [each["id"] for each in pending] == [job["id"]]
    assert pending[0]["status"] == "pending"


def test_health_metrics_and_leader_say_what_the_document_says(site: Site) -> None:
    health = site.health(site.scheduler)
    assert health["is_leader"] is True
    assert health["coordinator_health"] is True
    assert isinstance(health["timestamp"], int)
    _, leader = site.curl("/leader")
    assert leader["current_leader"] == leader["instance_id"] == health["instance_id"]
    assert leader["is_leader"] is True
    _, metrics = site.curl("/metrics")
    wanted = ("pending", "queued", "running", "completed", "failed")
    assert all(isinstance(metrics[f"{status}_jobs"], int) for status in wanted)
    assert metrics.keys() >= {"timestamp", "jobs_dispatched", "last_dispatch"}


def test_the_last_dispatch_is_when_a_worker_claimed_the_last_job(site: Site) -> None:
    _, job = site.create('{"payload": "the last one"}')
    _, done = site.curl(f"/jobs/{job['id']}/wait?timeout=60")
    started = int(datetime.fromisoformat(done["started_at"]).timestamp())
    give_up_at = SystemClock().elapsed() + PATIENCE
    while (site.curl("/metrics")[1]["last_dispatch"] or 0) < started:  # the scheduler's
        assert SystemClock().elapsed() < give_up_at


def test_every_node_is_found_at_the_coordinator_with_what_it_has_done(site: Site) -> None:
    _, job = site.create('{"payload": "work for one of them"}')
    site.curl(f"/jobs/{job['id']}/wait?timeout=60")
    give_up_at = SystemClock().elapsed() + PATIENCE
    while True:
        _, nodes = site.curl("/nodes")
        claimed = sum(node["metrics"]["claimed"] for node in nodes)
        if claimed and all(node["registered"] and node["addresses"] for node in nodes):
            break
        assert SystemClock().elapsed() < give_up_at, nodes
    by_role = {node["label"]: node["roles"] for node in nodes}
    assert by_role["worker-1"] == by_role["worker-2"] == ["worker"]
    assert sorted(roles for roles in by_role.values() if "worker" not in roles) == [
        ["api", "scheduler"]
    ]
    addresses = {address for node in nodes for address in node["addresses"]}
    assert {site.scheduler, site.worker} <= addresses


def test_a_worker_serves_its_health_and_metrics(site: Site) -> None:
    assert site.health(site.worker)["instance_id"] == "worker-1"
    status, metrics = site.curl("/metrics", at=site.worker)
    assert (status, metrics["failed_jobs"]) == (200, 0)


@pytest.mark.timeout(900)  # four processes may share the tests on two cores
async def test_no_request_of_a_load_is_lost(site: Site) -> None:
    numbers = iter(range(REQUESTS))
    statuses: list[int] = []
    created: set[int] = set()
    async with aiohttp.ClientSession(
        f"http://{site.scheduler}",
        connector=aiohttp.TCPConnector(limit=CALLERS),
        headers={"Authorization": f"Bearer {TOKEN}"},
    ) as session:

        async def call() -> None:
            for number in numbers:
                body = {"payload": f"load {number}", "priority": number % 100}
                async with session.post("/jobs", json=body) as answer:
                    statuses.append(answer.status)
                    created.add((await answer.json())["id"])

        await asyncio.gather(*(call() for _ in range(CALLERS)))
        assert set(statuses) == {201}
        assert len(created) == REQUESTS
        while True:  # the pytest time-out bounds it
            async with session.get(f"/jobs/{max(created)}/wait?timeout=10") as answer:
                assert answer.status == 200
            async with session.get("/jobs?status=queued,running&limit=1") as answer:
                if not await answer.json():
                    break
        async with session.get("/jobs?status=failed,cancelled") as answer:
            assert await answer.json() == []
