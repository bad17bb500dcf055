"""`drumbeat --server`: the same commands over a node that runs, and what is refused there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

from drumbeat import Drumbeat
from drumbeat.cli.command import LOCAL_ONLY
from drumbeat.cli.main import command
from drumbeat.cli.output.zone_name import zone_name
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.events import LeadershipGained

from .support import Answer, declare, run

TOKEN = "drum_the-token-of-the-tests"
NOWHERE = "http://127.0.0.1:9"
SOON = 60.0


@dataclass
class Node:
    """A node in a thread of its own, and its token in the environment."""

    url: str

    def __call__(self, *arguments: str) -> Answer:
        return run("--server", self.url, *arguments)


def until(true: Callable[[], bool]) -> None:
    """Wait for what must come soon, but is told to nobody."""
    give_up_at = SystemClock().elapsed() + SOON
    while not true():
        assert SystemClock().elapsed() < give_up_at
        threading.Event().wait(0.1)


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Node]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRUMBEAT_TOKEN", TOKEN)
    app = Drumbeat(
        f"sqlite:///{tmp_path}/far.db",
        environment={},
        http_addr="127.0.0.1:0",
        api_token=TOKEN,
        instance_id="far",
    )
    declare(app)
    leads = threading.Event()

    @app.leadership.on_gained
    def gained(_: LeadershipGained) -> None:  # pyright: ignore[reportUnusedFunction]
        leads.set()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(app.start(["scheduler", "worker", "api"]), loop).result(60)
        assert leads.wait(60)
        yield Node(f"http://{app.addresses[0]}")
        asyncio.run_coroutine_threadsafe(app.stop(0), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


EVERYTHING = (
    *("schedule list", "schedule show nightly", "schedule preview nightly"),
    *("schedule explain nightly", "schedule create beat --task greet --every 1h"),
    *("schedule edit beat --every 2h", "schedule hand-back nightly"),
    *("schedule pause beat", "schedule resume beat", "schedule skip nightly"),
    *("schedule trigger beat", "schedule backfill nightly --from -1d", "schedule delete beat"),
    "schedule prune",
    *("job submit greet", "job list", "job show 1", "job wait 1", "job result 1"),
    *("job retry --task fail", "job cancel --task fail"),
    *("operation list", "events --kind job --after 0 --count 1", "task list"),
    *("queue list", "queue show default", "queue pause mail", "queue resume mail"),
    *("config put colour blue", "config get colour", "config delete colour"),
    *("leader list", "leader history", "leader resign", "audit", "config show"),
    "overview",
    *("token create ci", "token list", "token revoke ci"),
    *("import crontab far.cron --apply", "cron @daily", "completion bash"),
    *("node list", "node drain far"),
)
"""Every command but those with tests of their own; the last one ends the server."""


def paths_of(group: click.Group, *above: str) -> Iterator[str]:
    """Every command below a group that can be asked of a server, by its whole name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if not above and name in LOCAL_ONLY:
            continue
        if isinstance(found, click.Group):
            yield from paths_of(found, *above, name)
        else:
            yield " ".join((*above, name))


def test_every_command_works_over_a_server(node: Node, tmp_path: Path) -> None:
    (tmp_path / "far.cron").write_text("0 3 * * * /usr/bin/backup --all\n", encoding="utf-8")
    for line in EVERYTHING:
        answer = node(*line.split())
        assert answer.code == 0, f"{line}: {answer.err}"
    tried = tuple(f"{line} " for line in EVERYTHING)
    left = {path for path in paths_of(command) if not any(t.startswith(f"{path} ") for t in tried)}
    assert left == {"doctor", "node show", "operation show", "operation cancel"}


def test_a_job_is_submitted_and_waited_for(node: Node) -> None:
    answer = node("job", "submit", "greet", "name=Anna", "--wait", "-o", "json")
    assert answer.code == 0, answer.err
    assert (answer.data["status"], answer.data["result"]) == ("completed", "Hello, Anna!")
    assert f"job {answer.data['id']} is completed" in answer.err
    failed = node("job", "submit", "fail", "--wait")
    assert failed.code == 1
    assert "no such customer" in failed.err


def test_a_job_says_over_the_wire_how_it_is_tried(node: Node) -> None:
    options = (
        "--max-retries",
        "1",
        "--retry-delay",
        "0s",
        "--timeout",
        "10s",
        "--dedupe-for",
        "1h",
    )
    failed = node("job", "submit", "fail", *options, "--wait", "-o", "json")
    assert (failed.code, failed.data["attempt"]) == (1, 2)


def test_many_jobs_are_cancelled_and_their_number_told(node: Node) -> None:
    for _ in range(3):
        node("job", "submit", "greet", "--delay", "1h")
    answer = node("job", "cancel", "--task", "greet", "--status", "pending")
    assert (answer.code, answer.out) == (0, "3 jobs cancelled\n"), answer.err


def test_a_schedule_is_backfilled_and_explained(node: Node) -> None:
    half_an_hour_away = (SystemClock().now() + timedelta(minutes=30)).minute  # from any tick
    when = f"{half_an_hour_away} * * * *"
    node("schedule", "create", "hourly", "--task", "greet", "--cron", when)
    answer = node("schedule", "backfill", "hourly", "--from", "-3h")
    assert "3 ticks, 3 fired now" in answer.out
    assert "hourly runs greet" in node("schedule", "explain", "hourly").out


def test_the_leader_resigns_and_leads_again(node: Node) -> None:
    answer = node("leader", "resign", "-o", "json")
    assert answer.code == 0, answer.err
    before = answer.data["before"]["token"]
    until(lambda: (node("leader", "-o", "json").data["token"] or before) > before)
    # The node has the lease before it tells the store.
    until(lambda: len(node("leader", "history", "-o", "json").data) >= 2)


def test_a_doctor_looks_at_the_server(node: Node) -> None:
    answers: list[Answer] = []

    def sound() -> bool:
        """Not while the machine is so busy that the store does not answer within a second."""
        answers.append(node("doctor", "-o", "json"))
        return answers[-1].code == 0

    until(sound)
    checks = {check["check"]: check for check in answers[-1].data}
    assert checks["server"]["seen"] == f"far answers at {node.url}, healthy"
    assert {"clock", "leader", "nodes", "tasks"} <= set(checks)


def test_the_settings_are_those_of_the_server(node: Node) -> None:
    data = node("config", "show", "-o", "json").data
    assert data["instance_id"]["value"] == "far"
    assert TOKEN not in str(data)
    assert "far" in node("config", "show", "--changed").out


def test_the_environment_names_the_server(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRUMBEAT_SERVER", node.url)
    assert run("leader", "-o", "json").data["leader"].startswith("far:")
    at_the_store = run("--store", f"sqlite:///{tmp_path}/store.db", "node", "list")
    assert "nothing is at sqlite:///" in at_the_store.err
    assert "no setting" not in run("--store", "memory://", "config", "show").err


def test_a_token_comes_from_a_file(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRUMBEAT_TOKEN")
    answer = node("node", "list")
    assert (answer.code, answer.out) == (1, "")
    assert "send a token" in answer.err
    assert "give one by DRUMBEAT_TOKEN" in answer.err
    Path("token").write_text(f"{TOKEN}\n", encoding="utf-8")
    assert node("--token-file", "token", "node", "list").code == 0
    monkeypatch.setenv("DRUMBEAT_TOKEN_FILE", "token")
    assert node("node", "list").code == 0
    missing = node("--token-file", "nowhere", "node", "list")
    assert missing.code == 2
    assert (
        missing.err == "Error: the token cannot be read from nowhere: No such file or directory\n"
    )


def test_a_scope_that_is_too_low_is_told(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    token = node("token", "create", "looker").out.strip()
    monkeypatch.setenv("DRUMBEAT_TOKEN", token)
    assert node("job", "list").code == 0
    answer = node("job", "cancel", "1")
    assert answer.code == 1
    assert "needs the scope operator, and looker has viewer" in answer.err


def test_a_server_that_does_not_answer_is_exit_code_5() -> None:
    answer = run("--server", NOWHERE, "job", "cancel", "1")
    assert answer.code == 5
    assert f"Error: {NOWHERE} does not answer" in answer.err


@pytest.mark.parametrize(
    ("zone", "here", "name"),
    [
        (UTC, "Europe/Paris", "UTC"),
        (ZoneInfo("Asia/Tokyo"), "Europe/Paris", "Asia/Tokyo"),
        (None, "Europe/Paris", "Europe/Paris"),
        (None, ":Europe/Paris", "Europe/Paris"),
        (None, "CET-1CEST", "UTC"),
    ],
)
def test_a_server_is_told_the_zone_by_its_name(
    zone: tzinfo | None, here: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", here)
    assert zone_name(zone) == name


@pytest.mark.parametrize("name", sorted(LOCAL_ONLY))
def test_what_works_on_this_machine_refuses_a_server(name: str) -> None:
    arguments = {"db": ("status",), "run": ("x:y",), "scheduler": ("x:y",), "worker": ("x:y",)}
    more = arguments.get(name, ("x:y",) if name == "api" else ())
    answer = run(name, *more, "--server", NOWHERE)
    assert answer.code == 2
    assert f"`drumbeat {name}` works on this machine and not on a server" in answer.err


@pytest.mark.parametrize(
    "option", [("--store", "memory://"), ("--app", "x:y"), ("--namespace", "shop")]
)
def test_a_store_and_a_server_cannot_both_be_asked(option: tuple[str, str]) -> None:
    answer = run("--server", NOWHERE, *option, "job", "list")
    assert answer.code == 2
    assert f"leave {option[0]} out" in answer.err


def test_a_cron_expression_needs_no_server() -> None:
    assert run("--server", NOWHERE, "cron", "0 2 * * *").code == 0
