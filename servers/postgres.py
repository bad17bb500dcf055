"""PostgreSQL, fully durable by default."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Self

import psycopg

from servers.postgres_programs import Programs
from servers.postgres_template import template_of
from servers.server import Server


class Postgres(Server):
    """A PostgreSQL server with one superuser, `postgres`, who needs no password."""

    name = "PostgreSQL"
    stop_signal = (
        signal.SIGINT
    )  # the "fast" shutdown, which ends sessions instead of waiting for them
    user = "postgres"

    def __init__(self, programs: Programs, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.programs = programs if self._runs_as() is None else programs.reachable()
        self._settings = settings

    @classmethod
    def start(cls, version: str = "15", settings: Mapping[str, str] | None = None) -> Self:
        """Start an empty server of that major version."""
        return cls(Programs.of(version), settings or {}).begin()

    @staticmethod
    def standby_of(primary: Postgres) -> Standby:
        """Start a read-only replica that streams from the given server."""
        return Standby.start_of(primary)

    @property
    def address(self) -> str:
        """The URL of its database `postgres`."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def fill(self) -> None:
        """Copy the template and append the settings."""
        template = template_of(self.programs, self._runs_as())
        self._run("cp", "--archive", template, self.data)
        self._write_settings()

    def _write_settings(self) -> None:
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            for name, value in self._settings.items():
                quoted = value.replace("'", "''")
                file.write(f"{name} = '{quoted}'\n")

    def _command(self) -> list[str]:
        # On the command line, so that the settings of a primary can be used by its standby.
        return [
            str(self.programs.folder / "postgres"),
            *("-D", str(self.data)),
            *("-p", str(self.port)),
            *("-c", "listen_addresses=127.0.0.1"),
            *("-c", "unix_socket_directories="),
        ]

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.address, connect_timeout=2, autocommit=True) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


class Standby(Postgres):
    """A replica of another server, read-only until it is promoted."""

    name = "PostgreSQL-standby"

    def __init__(self, primary: Postgres) -> None:
        super().__init__(primary.programs, {})
        self._primary = primary

    @classmethod
    def start_of(cls, primary: Postgres) -> Self:
        """Copy the primary and start to stream from it."""
        return cls(primary).begin()

    def promote(self) -> None:
        """Promote it to a primary. Waits until it accepts writes."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("SELECT pg_promote(wait => true, wait_seconds => 120)")

    def fill(self) -> None:
        """Copy the primary and configure the copy to stream from it."""
        self._run(
            self.programs.folder / "pg_basebackup",
            f"--dbname={self._primary.address}",
            f"--pgdata={self.data}",
            "--write-recovery-conf",
            "--checkpoint=fast",
            "--no-sync",
        )
