"""Real processes on one SQLite file: signals, supervision, and commands beside a running node."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, Node

DRUMBEAT = [sys.executable, "-m", "drumbeat"]

APP = """
import asyncio
from drumbeat import Context, Drumbeat, Retry, every

app = Drumbeat(heartbeat_every=0.5, node_lifetime=40)

@app.task
async def greet(name: str = "world") -> str:
    return f"Hello, {name}!"

@app.task
async def linger(seconds: float) -> str:
    print("lingering", flush=True)
    await asyncio.sleep(seconds)
    return "lingered"

@app.task(retry=Retry.never())
async def fail() -> None:
    raise ValueError("no such customer")

@app.task(exclusive="refresh", on_conflict="skip")
async def refresh() -> None:
    await asyncio.sleep(1)

@app.scheduled(every(hours=1))
async def hourly() -> None: ...
"""


def environment(folder: Path) -> dict[str, str]:
    """What a process needs, and nothing of the developer's own settings."""
    names = ("PATH", "HOME", "LANG", "BROWSER")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "DRUMBEAT_STORE": f"sqlite:///{folder / 'x.db'}", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(APP, encoding="utf-8")
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Node]]:
    nodes: list[Node] = []

    def started(*arguments: str) -> Node:
        process = subprocess.Popen(
            [*DRUMBEAT, *arguments],
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        nodes.append(Node(process))
        return nodes[-1]

    yield started
    for node in nodes:
        if node.process.poll() is None:
            node.process.kill()
        node.process.wait()
        node.reading.join(PATIENCE)


@pytest.fixture
def ask(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def asked(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*DRUMBEAT, *arguments],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    return asked


Start = Callable[..., Node]
Ask = Callable[..., subprocess.CompletedProcess[str]]


def test_a_node_serves_the_commands_beside_it_and_drains_on_sigterm(start: Start, ask: Ask) -> None:
    node = start("run", "shop:app")
    node.says("Became the leader")
    job = ask("job", "submit", "greet", "name=Anna", "--wait", "-o", "json")
    assert job.returncode == 0, job.stderr
    assert '"result": "Hello, Anna!"' in job.stdout
    doctor = ask("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert "hourly" in ask("schedule", "list").stdout
    assert ask("db", "status").returncode == 0
    node.signal(signal.SIGTERM)
    node.says("Stopped")
    assert node.ended() == 0
    assert "Nobody leads." in ask("leader").stdout


def test_a_leader_resigns_when_it_is_asked_from_another_process(start: Start, ask: Ask) -> None:
    node = start("run", "shop:app", "--retry-interval", "0.2s")
    node.says("Became the leader")
    asked = ask("leader", "resign")
    assert asked.returncode == 0, asked.stderr
    node.says("Lost leadership")
    node.says("epoch=2")


def test_a_second_sigterm_cuts_the_grace_short(start: Start, ask: Ask) -> None:
    node = start("worker", "shop:app", "--grace", "1h")
    node.says("started successfully")
    ask("job", "submit", "linger", "seconds=3600")
    node.says("lingering")
    node.signal(signal.SIGTERM)
    node.says("Draining")
    node.signal(signal.SIGTERM)
    node.says("Stopped")
    assert node.ended() == 0
    assert '"status": "queued"' in ask("job", "show", "1", "-o", "json").stdout


def test_processes_are_supervised_and_signals_reach_all_of_them(start: Start, ask: Ask) -> None:
    supervisor = start("run", "shop:app", "--processes", "2")
    supervisor.says("Scheduler started", times=2)
    assert ask("node", "list").stdout.count("alive") == 2
    supervisor.signal(signal.SIGTERM)
    supervisor.says("Stopped", times=2)
    assert supervisor.ended() == 0


def test_a_process_that_dies_is_started_again(start: Start) -> None:
    supervisor = start("run", "shop:app", "--processes", "2")
    supervisor.says("Scheduler started", times=2)
    children = Path(f"/proc/{supervisor.process.pid}/task/{supervisor.process.pid}/children")
    os.kill(int(children.read_text(encoding="ascii").split()[0]), signal.SIGKILL)
    supervisor.says("ended with -9; starting another")
    supervisor.says("Scheduler started")
    supervisor.signal(signal.SIGTERM)
    assert supervisor.ended() == 0


def test_nodes_drain_when_their_supervisor_is_killed(start: Start, ask: Ask) -> None:
    supervisor = start("run", "shop:app", "--processes", "2")
    supervisor.says("Scheduler started", times=2)
    assert ask("node", "list").stdout.count("alive") == 2
    supervisor.signal(signal.SIGKILL)
    supervisor.says("Stopped", times=2)


def test_supervised_processes_whose_app_does_not_load_end_together(start: Start) -> None:
    supervisor = start("run", "nowhere:app", "--processes", "2")
    supervisor.says("no module is named 'nowhere'")
    assert supervisor.ended() == 2


def test_a_file_of_somebody_else_is_refused_with_one_sentence(folder: Path, ask: Ask) -> None:
    (folder / "x.db").write_text("my diary, and no database at all", encoding="utf-8")
    answer = ask("schedule", "list")
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
    assert "is not a SQLite file" in answer.stderr


def test_development_opens_the_dashboard_once_it_is_there_and_only_once(
    start: Callable[..., Node], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = folder / "browser"
    browser.write_text('#!/bin/sh\necho "opened $1"\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    development = start("dev", "shop:app", "--http-addr", address, "--open")
    opened = f"opened http://{address}/"
    development.says_all(f"Dashboard: http://{address}/", opened, "Became the leader")
    (folder / "shop.py").write_text(APP + "\n", encoding="utf-8")
    development.says("shop.py changed; restarting.")
    development.says("Became the leader")
    development.signal(signal.SIGINT)
    assert development.ended() == 0
    development.reading.join(PATIENCE)
    left = [line for line in iter(development.lines.get, None) if line]
    assert not any("opened" in line for line in left)


def test_development_takes_the_next_port_if_the_usual_one_is_taken(
    start: Callable[..., Node],
) -> None:
    with socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # somebody else may have it
            usual.bind(("127.0.0.1", 8080))
            usual.listen()
        development = start("dev", "shop:app", "--no-reload")
        development.says("Dashboard: http://127.0.0.1:80")
        assert "Dashboard: http://127.0.0.1:8080/" not in development.seen[-1]
        development.says("Listening at http://127.0.0.1:80")


def test_development_keeps_the_file_of_the_app_and_restarts_when_code_changes(
    folder: Path, start: Start, ask: Ask
) -> None:
    development = start("dev", "shop:app", "--http-addr", "127.0.0.1:0")
    development.says("In another terminal: drumbeat --app shop:app schedule list")
    assert "The dashboard is at the address that is logged below." in development.seen[-1]
    development.says("Became the leader")
    assert not (folder / "drumbeat.db").exists()
    assert "hourly" in ask("--app", "shop:app", "schedule", "list").stdout
    new = folder / "shop.new"  # it takes the place of the other at once, as an editor does it
    new.write_text(APP + "\n# changed\n", encoding="utf-8")
    new.replace(folder / "shop.py")
    development.says("shop.py changed; restarting.")
    development.says("Stopped")
    development.says("Became the leader")
    development.signal(signal.SIGINT)
    development.says("Stopped")
    assert development.ended() == 0


def test_a_burst_runs_what_is_queued_and_stops(start: Start, ask: Ask) -> None:
    app = ("--app", "shop:app")
    for _ in range(3):
        ask(*app, "job", "submit", "greet")
    ask("job", "submit", "unknown")
    ask(*app, "job", "submit", "greet", "--queue", "mail")
    ask(*app, "job", "submit", "greet", "--delay", "1h")
    burst = start("worker", "shop:app", "--burst")
    burst.says("3 jobs completed, 0 failed.")
    assert burst.ended() == 0
    ask(*app, "job", "submit", "fail")
    burst = start("worker", "shop:app", "--burst")
    burst.says("0 jobs completed, 1 failed.")
    assert burst.ended() == 1


def test_a_burst_does_not_fail_because_a_job_was_skipped(start: Start, ask: Ask) -> None:
    app = ("--app", "shop:app")
    for _ in range(2):
        ask(*app, "job", "submit", "refresh")
    burst = start("worker", "shop:app", "--burst")
    burst.says("1 job completed, 0 failed.")
    assert burst.ended() == 0
    skipped = json.loads(ask(*app, "job", "list", "--skipped", "-o", "json").stdout)
    assert [job["id"] for job in skipped] == [2]


def test_a_burst_waits_for_what_it_runs_and_leaves_a_paused_queue(start: Start, ask: Ask) -> None:
    app = ("--app", "shop:app")
    ask(*app, "job", "submit", "linger", "seconds=1")
    ask(*app, "job", "submit", "greet", "--queue", "mail")
    ask("queue", "pause", "mail")
    burst = start("worker", "shop:app", "--burst", "--queues", "default,mail")
    burst.says("1 job completed, 0 failed.")
    assert burst.ended() == 0
