"""Forked processes neither hang nor use what belongs to their parent."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

import pytest

from drumbeat import Drumbeat, Status
from servers import Consul, Etcd, GivenMongo, Mongo, Postgres, Redis
from tests.support.postgres_namespace import namespace_in
from tests.support.processes import Node

PROGRAM = Path(__file__).with_name("forking.py")
PYTHON = [sys.executable, "-W", "ignore::DeprecationWarning"]
SOON = 90.0
ANSWERED = 30.0
"""The longest time of one request, in seconds."""
WORKERS = 3


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address and the namespace of a store that processes share."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/jobs.db", "drumbeat"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    with namespace_in(postgres.address) as namespace:
        yield postgres.address, namespace


@pytest.fixture(params=["mongo", "redis", "etcd", "consul"])
def coordinator(request: pytest.FixtureRequest) -> str:
    """The address of a coordinator that is no store."""
    server: Mongo | GivenMongo | Redis | Etcd | Consul = request.getfixturevalue(request.param)
    return server.address


def run(scenario: str, address: str, namespace: str = "drumbeat", *more: str) -> list[str]:
    done = subprocess.run(
        [*PYTHON, PROGRAM, scenario, address, namespace, *more],
        capture_output=True,
        text=True,
        timeout=SOON,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def gunicorn(store: tuple[str, str]) -> Iterator[Node]:
    """Gunicorn with a site that was loaded once, before the workers were forked."""
    address, namespace = store
    command = ["-m", "gunicorn", "--preload", "--workers", f"{WORKERS}", "--bind", "127.0.0.1:0"]
    process = subprocess.Popen(
        [sys.executable, *command, "tests.app.preloaded:site"],
        env={**os.environ, "SITE_STORE": address, "SITE_NAMESPACE": namespace},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    node = Node(process)
    yield node
    process.terminate()
    try:
        assert process.wait(ANSWERED) == 0
    finally:
        process.kill()  # its workers end by themselves then
        process.wait(SOON)


async def counts_in(address: str, namespace: str) -> Mapping[str, Mapping[Status, int]]:
    app = Drumbeat(address, namespace=namespace, environment={})
    try:
        return await app.jobs.counts()
    finally:
        await app.store.close()


class TestAProcessThatIsForked:
    def test_by_gunicorn_submits_in_each_request(
        self, gunicorn: Node, store: tuple[str, str]
    ) -> None:
        gunicorn.says("Listening at: ")
        (site,) = re.findall(r"http://[\w.:]+", gunicorn.seen[-1])

        def order(number: int) -> list[int]:
            with urlopen(f"{site}/{number}", timeout=ANSWERED) as answer:
                found: list[int] = json.load(answer)
                return found

        answers: list[list[int]] = []
        with ThreadPoolExecutor(8) as threads:
            while len({worker for _, worker, _ in answers}) < WORKERS:
                first = len(answers) + 1
                answers += threads.map(order, range(first, first + 40))
        assert len({job for job, _, _ in answers}) == len(answers)
        assert not {worker for _, worker, _ in answers} & {parent for _, _, parent in answers}

        assert asyncio.run(counts_in(*store)) == {"default": {Status.QUEUED: 1 + len(answers)}}

    def test_after_a_submission_all_children_and_the_parent_submit(
        self, store: tuple[str, str]
    ) -> None:
        assert run("preload", *store) == ["[True, True, True]", "18"]

    def test_after_a_submission_a_node_runs_in_the_child(self, store: tuple[str, str]) -> None:
        assert run("preload_and_run", *store) == ["True", "True", "4"]

    def test_may_close_its_store_before_the_child_does(self, store: tuple[str, str]) -> None:
        assert run("outlived", *store) == ["2", "True", "3"]

    def test_by_its_handlers_has_children_that_submit_and_run_nothing(
        self, store: tuple[str, str]
    ) -> None:
        assert run("inside_a_node", *store) == ["[0, 0, 0, 0]", "True", "{'completed': 9}"]

    def test_has_connections_of_its_own_to_a_coordinator(
        self, coordinator: str, tmp_path: Path
    ) -> None:
        store, namespace = f"sqlite:///{tmp_path}/jobs.db", f"test_{uuid4().hex}"
        assert run("coordinated", store, namespace, coordinator) == ["[True, True, True]"]

    def test_refuses_the_memory_store_that_its_parent_uses(self) -> None:
        first, refusal, second, count = run("memory", "memory://")
        assert (first, second, count) == ("True", "False", "1")
        assert refusal.startswith("ConfigurationError: this process was forked")
