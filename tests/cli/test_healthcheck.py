"""`drumbeat healthcheck` says by its exit code whether a node is well, in bounded time."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from click.testing import CliRunner, Result

from drumbeat.cli.checks.probe import url_of
from drumbeat.cli.main import command
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.testing import FakeClock

from .support import RemoteTerminal

READY = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"status":"ok"}'
AWAY = b'HTTP/1.1 503 Service Unavailable\r\n\r\n{"status":"store-unavailable"}'
NOTHING: Mapping[str, str] = {}
NAMES = ("HTTP_ADDR", "WORKER_HTTP_ADDR", "DRUMBEAT_HTTP_ADDR", "DRUMBEAT_WORKER_HTTP_ADDR")


def check(*arguments: str, environment: Mapping[str, str] = NOTHING) -> Result:
    variables = {**dict.fromkeys(NAMES), **environment}
    return CliRunner(env=variables).invoke(command, ["healthcheck", *arguments])


@contextmanager
def serving(answer: Callable[[socket.socket, Event], None]) -> Generator[tuple[str, list[str]]]:
    """A server that reads one request and answers it; the requests that came."""
    over, asked = Event(), list[str]()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                asked.append(connection.recv(65_536).decode().partition("\r\n")[0])
                answer(connection, over)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            over.set()
            thread.join(60.0)


def says(body: bytes) -> Callable[[socket.socket, Event], None]:
    return lambda connection, _: connection.sendall(body)


def is_silent(_: socket.socket, over: Event) -> None:
    over.wait(60.0)


def drips(connection: socket.socket, over: Event) -> None:
    """A byte every tenth of a second: each read is quick, the whole answer never ends."""
    while not over.wait(0.1):
        try:
            connection.sendall(b"x")
        except OSError:
            return


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ((), "/readyz"),
        (("--probe", "live"), "/livez"),
        (("--probe", "startup"), "/startupz"),
        (("--probe", "health"), "/health"),
    ],
)
def test_a_node_that_is_well_is_0(arguments: tuple[str, ...], path: str) -> None:
    with serving(says(READY)) as (address, asked):
        result = check(f"http://{address}", *arguments)
    assert (result.exit_code, asked) == (0, [f"GET {path} HTTP/1.1"])
    assert result.output == f"http://{address}{path}: ok\n"


def test_a_node_that_is_not_ready_is_1_and_the_reason_is_shown() -> None:
    with serving(says(AWAY)) as (address, _):
        result = check(f"http://{address}", "-o", "json")
    assert result.exit_code == 1
    assert json.loads(result.output) == {
        "url": f"http://{address}/readyz",
        "ok": False,
        "found": "store-unavailable",
    }


@pytest.mark.parametrize("answer", [is_silent, drips])
def test_it_ends_in_time_whatever_answers(answer: Callable[[socket.socket, Event], None]) -> None:
    clock = SystemClock()
    before = clock.elapsed()
    with serving(answer) as (address, _):
        result = check(f"http://{address}", "--timeout", "0.5")
        took = clock.elapsed() - before
    assert result.exit_code == 1
    assert "no answer within 0.5 s" in result.output
    assert 0.5 <= took < 10.0  # a busy machine


@pytest.mark.parametrize("body", [b"", b"SSH-2.0\r\n", b"HTTP/1.1 what\r\n\r\n"])
def test_what_does_not_speak_http_is_1(body: bytes) -> None:
    with serving(says(body)) as (address, _):
        assert check(f"http://{address}").exit_code == 1


@pytest.mark.parametrize("url", ["https://localhost", "localhost:8080", "http://", "http://a:b"])
def test_a_url_that_cannot_be_asked_is_1(url: str) -> None:
    assert check(url).exit_code == 1


@pytest.mark.parametrize(
    ("variables", "arguments"),
    [
        ({"HTTP_ADDR": "{}"}, ()),
        ({"HTTP_ADDR": "127.0.0.1:1", "WORKER_HTTP_ADDR": "{}"}, ()),
        ({"HTTP_ADDR": "{}", "WORKER_HTTP_ADDR": "127.0.0.1:1"}, ()),
        ({"HTTP_ADDR": "127.0.0.1:1", "WORKER_HTTP_ADDR": "{}"}, ("--role", "worker")),
        ({"HTTP_ADDR": "{}", "WORKER_HTTP_ADDR": "127.0.0.1:1"}, ("--role", "scheduler")),
        ({"DRUMBEAT_HTTP_ADDR": "{}"}, ("--role", "api")),
    ],
)
def test_the_address_is_the_one_of_the_role(
    variables: dict[str, str], arguments: tuple[str, ...]
) -> None:
    with serving(says(READY)) as (address, _):
        environment = {name: value.format(address) for name, value in variables.items()}
        assert check(*arguments, environment=environment).exit_code == 0


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]:8080", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("10.0.0.7:80", "http://10.0.0.7:80"),
    ],
)
def test_a_node_that_listens_everywhere_is_asked_at_this_machine(address: str, url: str) -> None:
    assert url_of(address) == url


@pytest.mark.parametrize(
    ("variables", "arguments", "words"),
    [
        ({}, ("--role", "worker"), "WORKER_HTTP_ADDR, which is not set"),
        ({"HTTP_ADDR": "nonsense"}, (), "http_addr must be"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_1(
    variables: dict[str, str], arguments: tuple[str, ...], words: str
) -> None:
    result = check(*arguments, environment=variables)
    assert result.exit_code == 1
    assert words in result.output


def test_a_real_node_answers(tmp_path: Path) -> None:
    terminal = RemoteTerminal(FakeClock(), tmp_path)
    try:
        assert check(terminal.url, "--probe", "live", "--timeout", "30").exit_code == 0
        waiting = check(terminal.url, "--timeout", "30")  # its app has not been started
        assert (waiting.exit_code, "starting" in waiting.output) == (1, True)
    finally:
        terminal.close()
