"""PgBouncer: a connection pool in front of a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import psycopg

from servers.packages import PGBOUNCER
from servers.postgres import Postgres
from servers.server import Server


class Pgbouncer(Server):
    """A pool in front of a server, in the given pool mode."""

    name = "PgBouncer"
    user = "postgres"

    def __init__(self, behind: Postgres, settings: Mapping[str, str]) -> None:
        self._program = PGBOUNCER.require()
        super().__init__()
        self._behind = behind
        self._settings = settings

    @classmethod
    def start(
        cls,
        behind: Postgres,
        mode: str = "transaction",
        settings: Mapping[str, str] | None = None,
    ) -> Self:
        """Start a pool in front of that server, in mode `session`, `transaction` or `statement`."""
        return cls(behind, {"pool_mode": mode, **(settings or {})}).begin()

    @property
    def address(self) -> str:
        """The URL of the database `postgres` behind it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def fill(self) -> None:
        super().fill()
        (self.data / "users").write_text('"postgres" ""\n', encoding="utf-8")
        lines = [
            "[databases]",
            f"* = host=127.0.0.1 port={self._behind.port}",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            f"listen_port = {self.port}",
            "unix_socket_dir =",
            "auth_type = trust",
            f"auth_file = {self.data / 'users'}",
            "admin_users = postgres",
            "max_client_conn = 1000",
            *(f"{name} = {value}" for name, value in self._settings.items()),
            "",
        ]
        (self.data / "pgbouncer.ini").write_text("\n".join(lines), encoding="utf-8")

    def _command(self) -> list[str]:
        return [str(self._program), str(self.data / "pgbouncer.ini")]

    def _answers(self) -> bool:
        # Ask its own console, since the server behind it may be away.
        console = self.address.removesuffix("postgres") + "pgbouncer"
        try:
            connection = psycopg.connect(console, connect_timeout=2, autocommit=True)
        except psycopg.OperationalError:
            return False
        connection.close()
        return True
