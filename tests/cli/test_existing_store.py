"""Commands that only look at a store create nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from servers import GivenMongo, Mongo, Postgres
from tests.support.mongo_namespace import collections_of
from tests.support.postgres_namespace import ask, namespace_in

from .support import run
from .test_main import ALL

CREATING = {
    "schedule create",
    "job submit",
    "queue pause",
    "token create",
    "config put",
    "import crontab",
    "db migrate",
}
"""Commands that may come before the first node, and create the store."""
RUNNING = {"demo", "dev", "run", "scheduler", "worker", "api", "bench"}
ARGUMENTS = {
    "schedule backfill": "nightly --from -1d",
    "schedule edit": "nightly --cron @daily",
    "job cancel": "1",
    "job result": "1",
    "job retry": "1",
    "job show": "1",
    "job wait": "1",
    "operation cancel": "1",
    "operation show": "1",
    "node drain": "web-1",
    "node show": "web-1",
    "token revoke": "ci",
    "config delete": "colour",
    "config get": "colour",
    **{
        f"schedule {verb}": "nightly"
        for verb in ("delete", "explain", "hand-back", "pause", "preview")
    },
    **{f"schedule {verb}": "nightly" for verb in ("resume", "show", "skip", "trigger")},
    **{f"queue {verb}": "mail" for verb in ("resume", "show")},
}
GROUPS = {"schedule", "job", "operation", "task", "node", "token", "config", "db", "import"}
NEED_NO_STORE = {"task list", "cron", "completion", "config show", "healthcheck"}
LOOKING = [path for path in ALL if path not in CREATING | RUNNING | GROUPS | NEED_NO_STORE]
ABOUT_THE_STORE = {"doctor": 1, "db status": 1, "db sql": 0}
"""Commands whose answer is that the tables are missing, and the exit code of that answer."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRUMBEAT_SERVER", raising=False)
    return tmp_path


@pytest.fixture
def empty(postgres: Postgres, here: Path) -> Iterator[str]:
    """A namespace without a schema."""
    with namespace_in(postgres.address) as name:
        yield name


def words(path: str) -> list[str]:
    return [*path.split(), *ARGUMENTS.get(path, "").split()]


@pytest.mark.parametrize("path", LOOKING)
def test_looking_at_an_absent_sqlite_file_creates_nothing(path: str, here: Path) -> None:
    answer = run("--store", "sqlite:///new.db", *words(path))
    assert list(here.iterdir()) == []
    assert answer.code == ABOUT_THE_STORE.get(path, 3), answer.err
    if path not in ABOUT_THE_STORE:
        assert "nothing is at sqlite:///new.db yet" in answer.err
        assert "`drumbeat run APP`" in answer.err


@pytest.mark.parametrize("path", LOOKING)
def test_looking_at_an_empty_database_creates_nothing(
    path: str, postgres: Postgres, empty: str
) -> None:
    answer = run("--store", postgres.address, "--namespace", empty, *words(path))
    assert answer.code == ABOUT_THE_STORE.get(path, 3), answer.err
    if path not in ABOUT_THE_STORE:
        assert f"yet for the namespace {empty!r}" in answer.err
    schemas = ask(postgres.address, "SELECT nspname FROM pg_namespace")
    assert empty not in [name for (name,) in schemas]


@pytest.mark.parametrize("path", LOOKING)
def test_looking_at_an_empty_mongodb_creates_nothing(
    path: str, mongo: Mongo | GivenMongo, here: Path
) -> None:
    empty = f"test-{uuid4().hex}"
    answer = run("--store", mongo.address, "--namespace", empty, *words(path))
    assert answer.code == ABOUT_THE_STORE.get(path, 3), answer.err
    if path not in ABOUT_THE_STORE:
        assert f"yet for the namespace {empty!r}" in answer.err
    assert collections_of(mongo.address, empty) == []


@pytest.mark.parametrize("path", ["task list", "config show"])
def test_questions_about_the_code_open_no_store(path: str, here: Path) -> None:
    assert run("--store", "sqlite:///new.db", *words(path)).code == 0
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("path", ["leader", "leader resign"])
def test_looking_at_an_absent_coordinator_creates_nothing(
    path: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRUMBEAT_COORDINATOR", "sqlite:///leader.db")
    answer = run("--store", "memory://", *words(path))
    assert answer.code == 3
    assert "nothing is at sqlite:///leader.db yet" in answer.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ("schedule", "create", "nightly", "--task", "backup", "--cron", "@daily"),
        ("job", "submit", "backup"),
        ("queue", "pause", "mail"),
        ("token", "create", "ci"),
        ("config", "put", "colour", "blue"),
    ],
)
def test_what_may_come_before_the_first_node_creates_the_store(
    command: tuple[str, ...], here: Path
) -> None:
    answer = run("--store", "sqlite:///new.db", *command)
    assert answer.code == 0, answer.err
    assert (here / "new.db").exists()
    assert run("--store", "sqlite:///new.db", "job", "list").code == 0


def test_a_dry_run_of_a_crontab_creates_nothing(here: Path) -> None:
    (here / "crontab").write_text("0 2 * * * /usr/bin/backup\n", encoding="utf-8")
    assert run("--store", "sqlite:///new.db", "import", "crontab", "crontab").code == 0
    assert not (here / "new.db").exists()


def test_looking_does_not_migrate_the_tables_of_an_older_version(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("--store", "sqlite:///old.db", "db", "migrate").code == 0
    from drumbeat.backends.sqlite.schema import schema
    from drumbeat.backends.sqlite.schema.migration import Migration, known_migrations

    known = known_migrations()
    more = Migration(len(known) + 1, "more", "CREATE TABLE more (id INTEGER) STRICT;\n")
    later = (*known, more)
    monkeypatch.setattr(schema, "known_migrations", lambda: later)
    answer = run("--store", "sqlite:///old.db", "job", "list")
    assert answer.code == 1
    assert "1 migration not applied; `drumbeat db migrate` does it" in answer.err
