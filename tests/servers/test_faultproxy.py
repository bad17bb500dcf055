"""The fault proxy in front of an echo server."""

import asyncio
import gc
import socket
import socketserver
from collections.abc import Iterator
from threading import Thread
from typing import cast

import pytest

from drumbeat.engine.plumbing.runtime import SystemClock
from servers import FaultProxy

SOON = 30.0
A_WHILE = 0.2


class Echo(socketserver.BaseRequestHandler):
    """An echo server."""

    def handle(self) -> None:
        connection = cast(socket.socket, self.request)
        try:
            while heard := connection.recv(65536):
                connection.sendall(heard)
        except ConnectionError:
            pass


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with FaultProxy.start(server.server_address[1]) as proxy:
            yield proxy
        server.shutdown()


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", proxy.port), SOON) as connection:
        say(connection, b"hello")
        assert hears(connection, b"hello")
        yield connection


def say(connection: socket.socket, words: bytes) -> None:
    connection.sendall(words)


def hears(connection: socket.socket, words: bytes) -> bool:
    heard = b""
    while len(heard) < len(words) and (more := connection.recv(65536)):
        heard += more
    return heard == words


def hears_nothing(connection: socket.socket) -> bool:
    connection.settimeout(A_WHILE)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    else:
        return False
    finally:
        connection.settimeout(SOON)


def is_reset(proxy: FaultProxy) -> bool:
    """Whether a new connection is reset while it opens or right afterwards."""
    try:
        with socket.create_connection(("127.0.0.1", proxy.port), SOON) as connection:
            connection.recv(1)
    except ConnectionResetError:
        return True
    return False


def test_many_bytes_arrive_complete_and_in_order(client: socket.socket) -> None:
    words = bytes(range(256)) * 20_000
    Thread(target=say, args=(client, words), daemon=True).start()
    assert hears(client, words)


def test_the_end_of_a_connection_is_forwarded(client: socket.socket) -> None:
    say(client, b"last words")
    client.shutdown(socket.SHUT_WR)
    assert hears(client, b"last words")
    assert client.recv(1) == b""


def test_a_delay_counts_each_way(proxy: FaultProxy, client: socket.socket) -> None:
    proxy.delay(A_WHILE)
    said_at = SystemClock().elapsed()
    say(client, b"slow")
    assert hears(client, b"slow")
    assert SystemClock().elapsed() - said_at >= 2 * A_WHILE


@pytest.mark.parametrize("fault", ["black hole", "to_server", "to_client"])
def test_held_back_bytes_arrive_after_healing(
    proxy: FaultProxy, client: socket.socket, fault: str
) -> None:
    match fault:
        case "black hole":
            proxy.black_hole()
        case "to_server":
            proxy.stall("to_server")
        case _:
            proxy.stall("to_client")
    say(client, b"later")
    assert hears_nothing(client)
    proxy.heal()
    assert hears(client, b"later")


def test_a_black_hole_accepts_new_connections_and_forwards_nothing(proxy: FaultProxy) -> None:
    proxy.black_hole()
    with socket.create_connection(("127.0.0.1", proxy.port), SOON) as late:
        say(late, b"anybody?")
        assert hears_nothing(late)
        proxy.heal()
        assert hears(late, b"anybody?")


def test_a_cut_resets_only_existing_connections(proxy: FaultProxy, client: socket.socket) -> None:
    proxy.cut_all()
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    with socket.create_connection(("127.0.0.1", proxy.port), SOON) as late:
        say(late, b"again")
        assert hears(late, b"again")


def test_a_reset_lasts_until_it_is_healed(proxy: FaultProxy, client: socket.socket) -> None:
    proxy.reset()
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    assert is_reset(proxy)
    proxy.heal()
    with socket.create_connection(("127.0.0.1", proxy.port), SOON) as later:
        say(later, b"again")
        assert hears(later, b"again")


def test_connections_to_a_missing_server_are_reset() -> None:
    with FaultProxy.start(1) as proxy:
        assert is_reset(proxy)


def test_a_connection_that_is_just_being_accepted_is_closed_with_the_proxy(
    proxy: FaultProxy,
) -> None:
    """asyncio leaks a connection whose listener is closed between accept and transport."""

    clock = SystemClock()

    async def connect_and_end() -> None:
        late.connect(("127.0.0.1", proxy.port))
        await clock.sleep(0)  # the loop sees the connection,
        await clock.sleep(0)  # has accepted it, and has not yet created its transport
        await proxy.end()

    with socket.socket() as late:
        asyncio.run_coroutine_threadsafe(connect_and_end(), proxy.loop).result(SOON)
        late.settimeout(SOON)
        with pytest.raises(ConnectionResetError):
            late.recv(1)
    gc.collect()  # an open transport would warn here, and a warning is an error
