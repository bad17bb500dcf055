"""The PostgreSQL server of the tests: killed, paused, emptied, replicated."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from servers import Pgbouncer, Postgres, ServerFailed, processes


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    """A separate server that a test may kill; skipped if the shared one is missing."""
    with Postgres.start() as mine:
        yield mine


def ask(server: Postgres, sql: str, patience: int = 30) -> list[tuple[object, ...]]:
    with psycopg.connect(server.address, autocommit=True, connect_timeout=patience) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


def state_of(pid: int) -> str:
    status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return status.rpartition(")")[2].split()[0]


def test_it_is_durable(postgres: Postgres) -> None:
    assert ask(postgres, "SHOW fsync") == [("on",)]
    assert ask(postgres, "SHOW synchronous_commit") == [("on",)]


def test_a_killed_server_keeps_what_was_committed(server: Postgres) -> None:
    ask(server, "CREATE TABLE kept AS SELECT 1 AS number")
    port = server.port
    server.kill()
    with pytest.raises(psycopg.OperationalError):
        ask(server, "SELECT 1")
    server.start_again()
    assert server.port == port
    assert ask(server, "SELECT * FROM kept") == [(1,)]
    assert "was not properly shut down" in server.log()


def test_a_kill_ends_the_backends_too(server: Postgres) -> None:
    with psycopg.connect(server.address, autocommit=True) as connection:
        backend = connection.info.backend_pid
        server.kill()
        assert processes.is_gone(backend)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_an_emptied_server_has_no_data(server: Postgres) -> None:
    ask(server, "CREATE TABLE forgotten (number int)")
    server.stop()
    server.restart_empty()
    assert ask(server, "SELECT to_regclass('forgotten')") == [(None,)]


def test_a_paused_server_does_not_answer_until_it_is_resumed(server: Postgres) -> None:
    with psycopg.connect(server.address, autocommit=True) as connection:
        server.pause()
        assert state_of(connection.info.backend_pid) == "T"
        with pytest.raises(psycopg.OperationalError, match="timeout"):
            ask(server, "SELECT 1", patience=2)
        server.resume()
        assert connection.execute("SELECT 2").fetchone() == (2,)


def test_settings_reach_the_server(postgres: Postgres) -> None:
    with Postgres.start(settings={"max_connections": "20", "application_name": "it's"}) as server:
        assert ask(server, "SHOW max_connections") == [("20",)]
        assert ask(server, "SHOW application_name") == [("it's",)]


def test_an_invalid_setting_raises_an_error_with_the_log(postgres: Postgres) -> None:
    with pytest.raises(ServerFailed, match="max_connexions"):
        Postgres.start(settings={"max_connexions": "20"})


def test_a_standby_follows_until_it_is_promoted(server: Postgres) -> None:
    with Postgres.standby_of(server) as standby:
        assert ask(standby, "SELECT pg_is_in_recovery()") == [(True,)]
        ask(server, "CREATE TABLE written AS SELECT 1 AS number")
        (position,) = ask(server, "SELECT pg_current_wal_lsn()")[0]
        received = f"SELECT pg_last_wal_receive_lsn() >= '{position}'"
        while ask(standby, received) != [(True,)]:  # the server does not wait for its standby
            pass
        server.kill()
        standby.promote()
        assert ask(standby, f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == [(True,)]
        assert ask(standby, "INSERT INTO written VALUES (2) RETURNING number") == [(2,)]


def test_version_18_can_be_started(postgres_newer: Postgres) -> None:
    assert ask(postgres_newer, "SHOW server_version_num")[0] >= ("180000",)


def test_pgbouncer_assigns_a_connection_for_one_transaction(
    pgbouncer: Pgbouncer,
) -> None:
    with (
        psycopg.connect(pgbouncer.address, autocommit=True) as one,
        psycopg.connect(pgbouncer.address, autocommit=True) as other,
    ):
        own = "SELECT pg_backend_pid()"
        assert one.execute(own).fetchone() == other.execute(own).fetchone()
