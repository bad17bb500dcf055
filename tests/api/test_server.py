"""The server keeps its bounds against clients that would hold it up, and ends well."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any, cast

import pytest

from drumbeat import Drumbeat
from drumbeat.api.http.connection import Bounds
from drumbeat.api.http.server import Server
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.ports.store import Store
from drumbeat.testing import FakeClock, FakeRuntime, inside

from .serving import SLOW, asked, connected, empty, everything, node, posted, sent, served

QUICK = Bounds(1, 4_096, body_seconds=1, idle_seconds=1, connections=3)
"""For those who are to be cut off."""
TINY = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"
NOT_FOREVER = 30.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests under way are waited for longer than a test lasts."""
    monkeypatch.setattr("drumbeat.api.http.server.GRACE", 10 * NOT_FOREVER)


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET", b"GET / HTTP/1.1\r\nhost: x\r\n", b"GET / HTTP/1.1\r\nx-a: b"],
    ids=["nothing", "a method", "some headers", "half a header"],
)
async def test_headers_that_never_end_are_cut_off(begun: bytes) -> None:
    async with served(bounds=QUICK) as server:
        async with asyncio.timeout(NOT_FOREVER):
            answer = await sent(server.address, begun)
        assert answer.startswith(b"HTTP/1.1 408")


async def test_headers_that_come_drop_by_drop_are_cut_off_too() -> None:
    async with served(bounds=QUICK) as server:
        reader, writer = await connected(server.address)
        writer.write(b"GET / HTTP/1.1\r\n")
        answering = asyncio.create_task(everything(reader))
        async with asyncio.timeout(NOT_FOREVER):
            while not answering.done():
                writer.write(b"a: b\r\n")
                await asyncio.wait([answering], timeout=0.2)
        # What was on its way when the server hung up may cost us its last words.
        assert b"HTTP/1.1 408".startswith((await answering)[:12])
        writer.close()


@pytest.mark.parametrize(
    "endless", [b"x: " + b"a" * 70_000, b"a: b\r\n" * 12_000], ids=["one long", "many short"]
)
async def test_headers_without_end_are_refused(endless: bytes) -> None:
    async with served() as server:
        answer = await sent(server.address, b"GET / HTTP/1.1\r\n" + endless)
        assert answer.startswith(b"HTTP/1.1 431")


async def test_a_connection_that_idles_between_requests_is_ended() -> None:
    async with served(bounds=replace(SLOW, idle_seconds=1)) as server:
        reader, writer = await connected(server.address)
        writer.write(TINY)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        async with asyncio.timeout(NOT_FOREVER):
            assert await reader.read() == b""
        writer.close()


async def test_empty_lines_do_not_keep_a_connection() -> None:
    async with served(bounds=replace(SLOW, header_seconds=6)) as server:
        reader, writer = await connected(server.address)
        writer.write(TINY)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\r\n")
        async with asyncio.timeout(NOT_FOREVER):
            assert (await reader.read()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_there_are_only_so_many_connections() -> None:
    async with served() as server:
        held = [await connected(server.address) for _ in range(3)]
        for reader, writer in held:
            writer.write(TINY)
            await reader.readuntil(b"\r\n\r\n")
        assert (await sent(server.address, TINY)).startswith(b"HTTP/1.1 503")
        for _, writer in held:
            writer.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", ""])
async def test_it_listens_where_it_was_asked_to(host: str) -> None:
    async with served(address=f"{host}:0") as server:
        port = server.address.rpartition(":")[2]
        reached = ["127.0.0.1", "[::1]"] if host in ("", "localhost") else [host]
        for each in reached[: 1 if host == "localhost" else 2]:
            answer = await sent(f"{each}:{port}", TINY[:-2] + b"connection: close\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200"), each


async def test_an_address_that_is_taken_is_a_sentence() -> None:
    async with served() as server:
        with pytest.raises(ConfigurationError, match=r"http_addr .* cannot be listened at"):
            await Server(empty, server.address).start()


async def test_a_body_that_is_too_large_is_cut_off() -> None:
    async with node() as (_, address):
        large = posted(b"x" * (10 * 1024 * 1024))
        reader, writer = await connected(address)
        head, _, body = large.partition(b"\r\n\r\n")
        writer.write(head + b"\r\nhost: localhost\r\n\r\n" + body[:1_000])
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"connection: close" in answer
        writer.close()


async def test_a_body_without_a_length_is_cut_off_where_it_gets_too_large() -> None:
    async with node() as (_, address):
        reader, writer = await connected(address)
        writer.write(
            b"POST /jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        answering = asyncio.create_task(everything(reader))
        for _ in range(200):
            writer.write(b"2000\r\n" + b"1" * 0x2000 + b"\r\n")
            await asyncio.wait([answering], timeout=0.005)
            if answering.done():
                break
        assert (await answering).startswith(b"HTTP/1.1 413")
        writer.close()


async def test_a_body_that_does_not_come_is_given_up() -> None:
    app = Drumbeat("memory://", environment={}, insecure=True)
    async with served(app.asgi(), bounds=QUICK) as server, asyncio.timeout(NOT_FOREVER):
        answer = await sent(server.address, posted(b"x" * 100)[:-50])
        assert answer.startswith(b"HTTP/1.1 408")


async def test_a_body_that_does_not_come_is_given_up_on_other_servers_too() -> None:
    clock = FakeClock()
    app = Drumbeat("memory://", environment={}, insecure=True, runtime=FakeRuntime(clock))
    got: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        got.append(message)

    connection: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/jobs",
        "query_string": b"",
        "headers": [],
        "client": None,
    }
    asking = asyncio.create_task(app.asgi()(connection, receive, send))
    await clock.advance("9s")
    assert got == []
    await clock.advance("1s")
    await asking
    assert got[0]["status"] == 408


async def test_a_client_that_goes_away_loses_no_job_that_was_taken() -> None:
    async with node() as (app, address):
        insert, inserting, going_on = app.store.jobs.insert, asyncio.Event(), asyncio.Event()
        inserted = asyncio.Event()

        async def slow(*given: Any) -> Any:
            inserting.set()
            await going_on.wait()
            verdicts = await insert(*given)
            inserted.set()
            return verdicts

        inside.submitter(app).use(cast("Store", _Store(slow)))
        _, writer = await connected(address)
        request = posted(b'{"task": "elsewhere"}').replace(b"\r\n", b"\r\nhost: localhost\r\n", 1)
        writer.write(request)
        await inserting.wait()
        writer.transport.abort()
        going_on.set()
        async with asyncio.timeout(NOT_FOREVER):
            await inserted.wait()
        assert [job.spec.task for job in (await app.jobs.list()).items] == ["elsewhere"]


class _Store:
    """A store whose jobs are inserted as the test says."""

    def __init__(self, insert: Any) -> None:
        self.jobs = self
        self.insert = insert


async def test_requests_under_way_end_when_the_server_stops(patient: None) -> None:
    begun, going_on = asyncio.Event(), asyncio.Event()

    async def slow(connection: Any, receive: Any, send: Any) -> None:
        begun.set()
        await going_on.wait()
        await empty(connection, receive, send)

    async with served(slow) as server:
        answering = asyncio.create_task(sent(server.address, TINY))
        await begun.wait()
        stopping = asyncio.create_task(server.stop())
        await asyncio.wait([stopping], timeout=0.3)
        assert not stopping.done()
        going_on.set()
        await stopping
        assert (await answering).startswith(b"HTTP/1.1 200")


async def test_what_would_not_end_by_itself_is_told_before_it_is_waited_for(
    patient: None,
) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def endless(connection: Any, receive: Any, send: Any) -> None:
        begun.set()
        await over.wait()
        await empty(connection, receive, send)

    async with served(endless) as server:
        server.at_the_end(over.set)
        answering = asyncio.create_task(sent(server.address, TINY))
        await begun.wait()
        async with asyncio.timeout(NOT_FOREVER):
            await server.stop()
        assert (await answering).startswith(b"HTTP/1.1 200")


async def test_streams_end_when_the_node_stops(patient: None) -> None:
    app = Drumbeat("memory://", environment={}, http_addr="127.0.0.1:0")
    await app.start(["api", "worker", "scheduler"])
    reader, writer = await connected(app.addresses[0])
    writer.write(b"GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    async with asyncio.timeout(NOT_FOREVER):
        await app.stop()
        await reader.read()
    writer.close()


async def test_a_node_that_drains_is_not_ready() -> None:
    app = Drumbeat("memory://", environment={}, http_addr="127.0.0.1:0")
    running, going_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def slow() -> None:
        running.set()
        await going_on.wait()

    await app.start(["api", "worker", "scheduler"])
    address = app.addresses[0]
    assert (await asked(address, b"GET /readyz HTTP/1.1\r\n\r\n"))[0] == 200
    await slow.submit()
    await running.wait()
    stopping = asyncio.create_task(app.stop())
    async with asyncio.timeout(NOT_FOREVER):
        ready = b"GET /readyz HTTP/1.1\r\n\r\n"
        while (told := await asked(address, ready))[0] == 200:  # it has not begun to stop
            pass
    assert told == (503, {"status": "stopping"})
    status, health = await asked(address, b"GET /health HTTP/1.1\r\n\r\n")
    assert (status, health["reason"]) == (503, "the node is stopping")
    assert (await asked(address, b"GET /livez HTTP/1.1\r\n\r\n"))[0] == 200
    going_on.set()
    await stopping


async def test_while_the_store_is_away_the_api_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(api_token="let-me-in-with-this-one") as (app, address):

        async def away(*_: object) -> None:
            raise Unavailable("no answer from db.internal")

        bearer = b"authorization: Bearer let-me-in-with-this-one\r\n\r\n"
        monkeypatch.setattr(app.store.jobs, "list", away)
        desk_now = await asked(address, b"GET /jobs HTTP/1.1\r\n" + bearer)
        assert desk_now[0] == 503
        assert desk_now[1]["type"] == "urn:drumbeat:problem:store-unavailable"
        assert (await asked(address, b"GET /livez HTTP/1.1\r\n\r\n"))[0] == 200


async def test_a_worker_serves_its_health_and_metrics(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "drumbeat.api")
    app = Drumbeat("memory://", environment={}, worker_http_addr="127.0.0.1:0")
    async with app.running(["worker"]):
        (address,) = app.addresses
        assert f"Listening at http://{address}" in caplog.text
        assert (await asked(address, b"GET /health HTTP/1.1\r\n\r\n"))[1]["status"] == "healthy"
        assert (await asked(address, b"GET /metrics HTTP/1.1\r\n\r\n"))[1]["pending_jobs"] == 0
        status, refusal = await asked(address, b"GET /jobs HTTP/1.1\r\n\r\n")
        assert (status, "it has /health, /leader" in refusal["detail"]) == (404, True)
        text = await sent(
            address,
            b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
            b"accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n\r\n",
        )
        assert b"drumbeat_leader_status" in text
        assert b"content-type: application/openmetrics-text" in text


async def test_a_worker_that_others_reach_answers_only_probes_without_a_token() -> None:
    app = Drumbeat("memory://", environment={}, worker_http_addr="0.0.0.0:0")
    async with app.running(["worker"]):
        address = "127.0.0.1:" + app.addresses[0].rpartition(":")[2]
        assert (await asked(address, b"GET /health HTTP/1.1\r\n\r\n"))[0] == 200
        assert (await asked(address, b"GET /metrics HTTP/1.1\r\n\r\n"))[0] == 401


async def test_an_api_that_others_reach_does_not_start_without_a_token() -> None:
    app = Drumbeat("memory://", environment={}, http_addr=":0")
    with pytest.raises(ConfigurationError, match=r"there is no token"):
        await app.start(["api"])
    assert app.addresses == ()
    open_to_all = Drumbeat("memory://", environment={}, http_addr=":0", insecure=True)
    async with open_to_all.running(["api"]):
        assert len(open_to_all.addresses) == 1
