"""Addresses of Redis servers: what they say, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from drumbeat.backends.redis.connection.address import parse
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "hosts", "database"),
    [
        ("redis://", (("localhost", 6379),), 0),
        ("redis://cache", (("cache", 6379),), 0),
        ("redis://cache:7000/3", (("cache", 7000),), 3),
        ("redis://cache?db=4", (("cache", 6379),), 4),
        ("redis://[::1]:7000/3", (("::1", 7000),), 3),
        ("redis+sentinel://one,two:1/mymaster/3", (("one", 26379), ("two", 1)), 3),
    ],
)
def test_an_address_names_hosts_and_a_database(
    text: str, hosts: tuple[tuple[str, int], ...], database: int
) -> None:
    address = parse(text)
    assert (address.hosts, address.database) == (hosts, database)


def test_an_address_names_a_socket() -> None:
    address = parse("unix://anna:secret@/run/redis.sock?db=2")
    assert (address.hosts, address.socket, address.database) == ((), "/run/redis.sock", 2)
    assert address.shown == "/run/redis.sock"


def test_an_address_says_who_we_are_and_how_safe_the_way_is(tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.touch()
    address = parse(f"rediss://anna:p%40ss:w@cache?ssl_ca_certs={certificate}&allow_eviction=true")
    assert (address.credentials.username, address.credentials.password) == ("anna", "p@ss:w")
    assert address.tls
    assert address.files == {"ssl_ca_certs": str(certificate)}
    assert address.allow_eviction
    assert parse("redis://:secret@cache").credentials.username is None
    watched = parse("rediss+sentinel://:a@one/mymaster?sentinel_password=b")
    assert (watched.credentials.password, watched.sentinel_credentials.password) == ("a", "b")


def test_an_address_never_shows_its_passwords() -> None:
    address = parse("redis+sentinel://anna:hunter2@one:1/mymaster?sentinel_password=hunter2")
    assert "hunter2" not in repr(address)
    assert address.shown == "'mymaster' (Sentinels one:1)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("redis://cache/first", "the database of a Redis address must be a number, not 'first'"),
        ("redis://u:hunter2@one:7000,two:7001/0", "the redis:// address names 2 servers; name one"),
        ("rediss://one,two,three", "the rediss:// address names 3 servers; name one"),
        ("redis://cache:port", "the port of a Redis address must be a number, not 'port'"),
        ("redis://cache?timeout=3", "the redis:// address has no option 'timeout'; it knows"),
        ("redis://cache?allow_eviction=perhaps", "allow_eviction of the Redis address must be"),
        ("rediss://cache?ssl_ca_certs=gone.pem", "ssl_ca_certs of the Redis address names no file"),
        ("redis+sentinel://one:26379", "the redis+sentinel:// address names no primary; write"),
        ("unix://", "the unix:// address names no socket; write"),
    ],
)
def test_a_bad_address_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse(text)
    assert str(refused.value).startswith(sentence)


def test_a_missing_client_is_one_line_that_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['redis'] = None; from drumbeat import Drumbeat; "
        "Drumbeat('memory://', coordinator='redis://cache', environment={})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        "drumbeat.model.errors.ConfigurationError: "
        f"Redis needs the extra redis: {install_command('redis')}"
    )
