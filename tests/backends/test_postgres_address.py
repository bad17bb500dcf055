"""Addresses of PostgreSQL: what they may say, and what is shown of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from drumbeat import Drumbeat
from drumbeat.backends.postgres.connection.address import parse_address
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.coordinator import PostgresCoordinator
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError
from drumbeat.testing import inside


class TestAddress:
    def test_secrets_are_neither_shown_nor_told(self) -> None:
        address = parse_address("postgresql://anna:hun%40ter2@db:5433/app?sslpassword=s3cret")
        assert address.shown == "db:5433/app"
        assert "hun" not in repr(address)
        assert address.scrubbed("no hun@ter2, no hun%40ter2, no s3cret") == "no ***, no ***, no ***"

    def test_our_own_parameters_are_taken_off(self) -> None:
        address = parse_address("postgresql://db/app?pooler=transaction&sslmode=disable")
        assert address.pooler == "transaction"
        assert address.full == "postgresql://db/app?sslmode=disable"

    def test_of_several_hosts_the_one_that_takes_writes_is_wanted(self) -> None:
        assert parse_address("postgresql://a,b/app").full.endswith("=read-write")
        assert "target" not in parse_address("postgresql://a/app").full
        kept = parse_address("postgresql://a,b/app?target_session_attrs=any").full
        assert kept.endswith("?target_session_attrs=any")

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("mysql://anna:hunter2@db", "begins with postgresql://, not with mysql://"),
            ("postgresql://anna:hunter2@[db", "cannot be read"),
            ("postgresql://db/app?pooler=x", "must be one of none, session, transaction, not 'x'"),
        ],
    )
    def test_an_address_that_cannot_be_one_is_refused(self, text: str, sentence: str) -> None:
        with pytest.raises(ConfigurationError, match=sentence) as refused:
            parse_address(text)
        assert "hunter2" not in str(refused.value)

    @pytest.mark.parametrize("namespace", ["", 'a"b', "x" * 41, "pg_mine", "a b"])
    def test_a_namespace_that_can_name_no_schema_is_refused(self, namespace: str) -> None:
        with pytest.raises(ConfigurationError, match="namespace must"):
            Database("postgresql://db/app", SystemClock(), namespace)


class TestAddressOfAnApp:
    @pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
    def test_it_names_the_store_and_who_appoints(self, scheme: str) -> None:
        app = Drumbeat(environment={"POSTGRES_DSN": f"{scheme}://anna:hunter2@db/app"})
        assert isinstance(app.store, PostgresStore)
        assert app.store.database.address.shown == "db/app"
        assert isinstance(inside.setup(app).backends.coordinator, PostgresCoordinator)

    @pytest.mark.parametrize("part", ["store", "coordinator"])
    def test_a_missing_client_is_named_in_one_line(self, part: str) -> None:
        code = (
            "import sys; sys.modules['asyncpg'] = None; from drumbeat import Drumbeat\n"
            "try: Drumbeat(**{'store': 'memory://', sys.argv[1]: 'postgresql://db/x'})\n"
            "except ValueError as error: print(error)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, part], capture_output=True, text=True, check=True
        )
        assert done.stdout == (
            f"PostgreSQL needs the extra postgres: {install_command('postgres')}\n"
        )
