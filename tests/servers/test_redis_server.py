"""The Redis, Valkey and Sentinel servers of the tests."""

from collections.abc import Iterator

import pytest

from servers import Redis, Sentinel, Valkey


@pytest.fixture(params=[Redis, Valkey])
def server(request: pytest.FixtureRequest) -> Iterator[Redis]:
    kind: type[Redis] = request.param
    request.getfixturevalue(kind.__name__.lower())  # skips where it is missing
    with kind.start({"appendfsync": "always"}) as mine:  # otherwise a kill may lose the last second
        yield mine


def test_a_killed_server_keeps_what_it_has_acknowledged(server: Redis) -> None:
    server.ask("SET", "word", "kept")
    server.kill()
    with pytest.raises(ConnectionError):
        server.ask("PING")
    server.start_again()
    assert "kept" in server.ask("GET", "word")


def test_an_emptied_server_has_no_data(server: Redis) -> None:
    server.ask("SET", "word", "forgotten")
    server.stop()
    server.restart_empty()
    assert server.ask("DBSIZE") == ":0\r\n"


def test_a_paused_server_does_not_answer_until_it_is_resumed(server: Redis) -> None:
    server.pause()
    with pytest.raises(TimeoutError):
        server.ask("PING", patience=2)
    server.resume()
    assert server.ask("PING") == "+PONG\r\n"


def test_settings_reach_the_server(redis: Redis) -> None:
    with Redis.start(settings={"appendfsync": "always"}) as server:
        assert "always" in server.ask("CONFIG", "GET", "appendfsync")


@pytest.mark.timeout(600)
def test_the_sentinels_replace_a_killed_primary(sentinel: Sentinel) -> None:
    # Long enough that no Sentinel replaces the primary before the kill.
    with Sentinel.start(down_after=6) as mine:
        first = mine.primary()
        assert first.ask("SET", "word", "kept") == "+OK\r\n"
        first.wait_for_replicas()
        first.kill()
        second = mine.primary()
        assert second is not first
        assert "kept" in second.ask("GET", "word")
