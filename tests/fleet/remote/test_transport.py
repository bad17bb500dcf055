"""What the client does when the server is away, refuses it, or is none."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from drumbeat import Client, Drumbeat, Forbidden, Unauthorised, Unavailable
from drumbeat.api.http.server import Server
from drumbeat.extras import install_command
from drumbeat.fleet.remote.request import path_of
from drumbeat.fleet.remote.server_url import base_of
from drumbeat.model.errors import ConfigurationError, InvalidInput, NotRunning
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.job import JobView

from .relay import Relay

NOWHERE = "http://127.0.0.1:9"


@asynccontextmanager
async def relayed(app: Drumbeat) -> AsyncGenerator[tuple[Relay, Client]]:
    async with Relay(app.addresses[0]) as relay, Client(relay.url) as client:
        yield relay, client


async def test_a_submission_with_a_key_is_repeated_when_its_answer_is_lost(app: Drumbeat) -> None:
    async with relayed(app) as (relay, client):
        relay.loses = 2
        job = await client.jobs.submit("greet", delay="1h", dedupe_key="once")
        assert relay.connections == 3
        assert [each.id for each in (await app.jobs.list()).items] == [job.id]


async def test_a_submission_without_a_key_is_not(app: Drumbeat) -> None:
    async with relayed(app) as (relay, client):
        relay.loses = 1
        with pytest.raises(Unavailable, match="does not answer"):
            await client.jobs.submit("greet", delay="1h")
        assert relay.connections == 1
        assert len((await app.jobs.list()).items) == 1


async def test_other_changes_are_not_repeated(app: Drumbeat) -> None:
    async with relayed(app) as (relay, client):
        relay.loses = 1
        with pytest.raises(Unavailable):
            await client.queues.pause("mail")
        assert relay.connections == 1


async def test_a_question_is_repeated_a_few_times_and_then_given_up(app: Drumbeat) -> None:
    async with Relay(app.addresses[0]) as relay, Client(relay.url, retries=1) as client:
        relay.loses = 1
        assert (await client.jobs.list()).items == ()
        relay.cut()
        relay.loses = 5
        with pytest.raises(Unavailable):
            await client.jobs.list()
        assert relay.loses > 0


async def busy_first(times: int, asked: list[str], connection: Any, send: Any) -> None:
    """An app that is not available for the first so many requests."""
    asked.append(connection["method"])
    headers = [(b"content-length", b"2")]
    busy = len(asked) <= times
    if busy:
        headers.append((b"retry-after", b"0"))
    status = 503 if busy else 200
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}" if busy else b"[]"})


async def test_a_busy_server_is_asked_again_when_it_says() -> None:
    asked: list[str] = []

    async def app(connection: Any, _receive: Any, send: Any) -> None:
        await busy_first(2, asked, connection, send)

    server = Server(app, "127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"http://{server.address}") as client:
            assert (await client.jobs.list()).items == ()
            assert asked == ["GET", "GET", "GET"]
            asked.clear()
            with pytest.raises(Unavailable):
                await client.jobs.submit("greet")
            assert asked == ["POST"]
    finally:
        await server.stop()


async def test_a_server_that_is_not_there_is_told_as_such() -> None:
    async with Client(NOWHERE, retries=0) as client:
        with pytest.raises(Unavailable, match=f"{NOWHERE} does not answer"):
            await client.jobs.get(1)


async def test_what_is_no_drumbeat_is_told_as_such() -> None:
    async def page(_connection: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"6")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<html>"})

    server = Server(page, "127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"http://{server.address}") as client:
            with pytest.raises(Unavailable, match="not one of Drumbeat"):
                await client.jobs.get(1)
    finally:
        await server.stop()


async def test_a_refusal_by_somebody_else_is_not_taken_for_one_of_drumbeat() -> None:
    statuses = iter([404, 403, 502, 418])

    async def proxy(_connection: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"6")]
        await send({"type": "http.response.start", "status": next(statuses), "headers": headers})
        await send({"type": "http.response.body", "body": b"<html>"})

    server = Server(proxy, "127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"http://{server.address}") as client:
            with pytest.raises(Unavailable, match="begin at another path"):
                await client.jobs.get(1)
            with pytest.raises(Forbidden, match="not by Drumbeat"):
                await client.jobs.get(1)
            with pytest.raises(Unavailable, match="502"):
                await client.jobs.get(1)
            with pytest.raises(InvalidInput, match="418"):
                await client.jobs.get(1)
    finally:
        await server.stop()


def test_a_client_belongs_to_one_loop() -> None:
    client = Client(NOWHERE, retries=0)

    async def ask() -> None:
        with pytest.raises(Unavailable):
            await client.jobs.get(1)

    async def ask_elsewhere() -> None:
        with pytest.raises(NotRunning, match="create one for each loop"):
            await client.jobs.get(1)

    with asyncio.Runner() as first:
        first.run(ask())
        with asyncio.Runner() as second:
            second.run(ask_elsewhere())
        first.run(client.close())


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of this machine that nobody knows, and its key."""
    key, certificate = tmp_path / "server.key", tmp_path / "server.pem"
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-x509", "-subj", "/CN=relay")
    files = ("-keyout", str(key), "-out", str(certificate))
    command = ["openssl", *new, "-addext", "subjectAltName=IP:127.0.0.1", *files]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


async def test_a_certificate_has_to_be_trusted(app: Drumbeat, signed: tuple[Path, Path]) -> None:
    certificate, key = signed
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with Relay(app.addresses[0], server) as relay:
        async with Client(relay.url, tls=trusting) as client:
            assert (await client.jobs.list()).items == ()
        async with Client(relay.url, retries=0) as client:
            with pytest.raises(Unavailable, match="its certificate is not trusted"):
                await client.jobs.list()


async def test_a_redirect_is_not_followed_with_a_token() -> None:
    async def elsewhere(_connection: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"0"), (b"location", b"https://elsewhere.example")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    server = Server(elsewhere, "127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"http://{server.address}", "drum_x") as client:
            with pytest.raises(ConfigurationError, match=r"https://elsewhere\.example"):
                await client.jobs.get(1)
    finally:
        await server.stop()


@pytest.fixture
async def guarded() -> AsyncGenerator[str]:
    """A server that wants a token."""
    app = Drumbeat(
        "memory://", environment={}, http_addr="127.0.0.1:0", api_token="drum_of-the-administrator"
    )
    async with app.running(["api"]):
        yield f"http://{app.addresses[0]}"


async def test_a_token_is_needed_and_reaches_as_far_as_its_scope(guarded: str) -> None:
    async with Client(guarded) as nobody, Client(guarded, "drum_wrong") as wrong:
        with pytest.raises(Unauthorised, match="send a token"):
            await nobody.jobs.list()
        with pytest.raises(Unauthorised, match="send a token"):
            await anext(nobody.events.follow())
        with pytest.raises(Unauthorised, match="the token is not known"):
            await wrong.jobs.list()
    async with Client(guarded, "drum_of-the-administrator") as admin:
        made = await admin.tokens.create("looker", Scope.VIEWER)
    async with Client(guarded, made.token) as looker:
        assert (await looker.jobs.list()).items == ()
        with pytest.raises(Forbidden, match="needs the scope submitter"):
            await looker.jobs.submit("greet")
        assert made.token not in repr(looker)


async def test_events_come_as_they_happen_and_go_on_after_a_break(app: Drumbeat) -> None:
    async with relayed(app) as (relay, client):
        heard: set[int] = set()
        news = asyncio.Event()

        async def listen() -> None:
            async for event in client.events.follow(["job"]):
                assert event.kind == "job"  # and no reset: nothing was missed
                assert isinstance(event.about, JobView)
                heard.add(event.about.id)
                news.set()

        async def hears(number: int) -> None:
            while number not in heard:
                await news.wait()
                news.clear()

        listening = asyncio.create_task(listen())
        while not heard:  # it takes a moment until the stream begins
            await app.jobs.submit("greet")
            await asyncio.wait([listening], timeout=0.5)
        relay.cut()
        missed = await app.jobs.submit("greet")
        await asyncio.wait_for(hears(missed.id), 60)
        assert not listening.done()
        listening.cancel()
        await asyncio.wait([listening])


async def test_an_event_is_heard_although_the_stream_broke_before_its_first_one(
    app: Drumbeat,
) -> None:
    """The notice `ready` says where the stream begins: a new connection goes on from there."""
    async with relayed(app) as (relay, client):
        relay.ends_after = b"event: ready"
        listening = asyncio.create_task(anext(client.events.follow(["job"])))
        await asyncio.wait_for(relay.ended.wait(), 60)
        missed = await app.jobs.submit("greet")
        event = await asyncio.wait_for(listening, 60)
        assert isinstance(event.about, JobView)
        assert (event.kind, event.about.id) == ("job", missed.id)


async def test_a_closed_client_says_so(client: Client) -> None:
    await client.close()
    with pytest.raises(NotRunning, match="closed"):
        await client.jobs.list()


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://localhost:8080", "http://localhost:8080"),
        ("https://jobs.example.org/drumbeat/", "https://jobs.example.org/drumbeat"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_may_have_a_path(url: str, base: str) -> None:
    assert base_of(url) == base


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("localhost:8080", "must begin with http:// or https://"),
        ("ftp://x", "must begin with http:// or https://"),
        ("http://", "have a host"),
        ("http://x:99999", "is invalid"),
        ("http://anna:secret@x", "give a token instead"),
        ("http://x/?a=1", "must not have a query"),
    ],
)
def test_an_address_that_can_be_none_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as refused:
        Client(url)
    assert "secret" not in str(refused.value)


def test_a_name_is_one_segment_of_a_path_whatever_it_is() -> None:
    assert path_of("schedules", "..", "pause") == "/schedules/%2E%2E/pause"
    assert path_of("jobs", 7) == "/jobs/7"
    assert path_of("a/b?c#d%") == "/a%2Fb%3Fc%23d%25"
    assert path_of("\udcff") == "/%ED%B3%BF"


def test_the_options_of_a_client_have_bounds() -> None:
    with pytest.raises(InvalidInput, match="timeout"):
        Client(NOWHERE, timeout=0)
    with pytest.raises(InvalidInput, match="retries"):
        Client(NOWHERE, retries=-1)
    with pytest.raises(ConfigurationError, match="no token has"):
        Client(NOWHERE, "drum_a\r\nx: y")


def test_without_the_extra_the_error_names_it() -> None:
    code = (
        "import sys; sys.modules['aiohttp'] = None\n"
        "import drumbeat\n"
        "try: drumbeat.Client('http://localhost')\n"
        "except drumbeat.DrumbeatError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == (f"the client needs the extra client: {install_command('client')}\n")


def test_the_library_is_imported_only_by_those_who_use_it() -> None:
    code = (
        "import sys, drumbeat\n"
        "drumbeat.Drumbeat('memory://', environment={})\n"
        "print('aiohttp' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
