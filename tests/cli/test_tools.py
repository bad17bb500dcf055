"""`drumbeat config`, `db`, `bench` and `completion`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from drumbeat.config import SETTINGS
from drumbeat.ports.migrations import Step

from .support import Terminal, run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_setting_is_shown_with_its_origin(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".env").write_text("DRUMBEAT_GRACE=90s\n", encoding="utf-8")
    monkeypatch.setenv("LEADER_ELECTION_LOCK_TTL", "15s")
    monkeypatch.setenv("DRUMBEAT_STORE", "memory://")
    monkeypatch.setenv("POSTGRES_DSN", "postgresql://anna:hunter2@db/app")
    data = run("--namespace", "shop", "config", "show", "-o", "json").data
    assert list(data) == [each.name for each in SETTINGS]
    shown = {name: (row["value"], row["origin"]) for name, row in data.items()}
    assert shown["grace"] == ("1m30s", ".env DRUMBEAT_GRACE")
    assert shown["lease_ttl"] == ("15s", "environment LEADER_ELECTION_LOCK_TTL")
    assert shown["namespace"] == ("shop", "command line --namespace")
    assert shown["concurrency"] == (100, "default")
    assert shown["postgres_dsn"] == (
        "postgresql://anna:***@db/app",
        "environment POSTGRES_DSN",
    )
    assert data["lease_ttl"]["variable"] == "DRUMBEAT_LEASE_TTL"
    assert "hunter2" not in run("config", "show").out


def test_only_what_was_changed_is_shown_if_that_is_asked_for(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOG_LEVEL", "debug")
    assert run("config", "show", "--changed").out.splitlines() == [
        "setting    value  from",
        "log_level  DEBUG  environment LOG_LEVEL",
    ]


def test_bad_settings_are_named_one_by_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "loud")
    monkeypatch.setenv("DRUMBEAT_CONCURRENCY", "many")
    monkeypatch.setenv("DRUMBEAT_CONCURENCY", "5")
    answer = run("config", "show")
    assert answer.code == 2
    lines = answer.err.splitlines()
    assert lines[0] == (
        "Note: DRUMBEAT_CONCURENCY is not a setting; did you mean DRUMBEAT_CONCURRENCY?"
    )
    assert [line.split()[1] for line in lines[1:]] == ["concurrency", "log_level"]


def test_the_settings_of_an_app_are_shown(here: Path) -> None:
    (here / "some_shop.py").write_text(
        "from drumbeat import Drumbeat\napp = Drumbeat('memory://', concurrency=7)\n",
        encoding="utf-8",
    )
    data = run("--app", "some_shop:app", "config", "show", "-o", "json").data
    assert (data["concurrency"]["value"], data["concurrency"]["origin"]) == (7, "code")


@pytest.mark.parametrize("verb", ["status", "migrate", "sql"])
def test_a_store_without_migrations_is_told_as_such(at_the_store: Terminal, verb: str) -> None:
    answer = at_the_store("db", verb)
    assert answer.code == 2
    assert answer.err == "Error: MemoryStore has no migrations: there is nothing to do\n"


@dataclass(frozen=True)
class FakeStep:
    version: int
    name: str
    script: str


class FakeMigrations:
    """Two steps, of which the first was applied."""

    def __init__(self) -> None:
        self.done = {1}

    def known(self) -> Sequence[Step]:
        return [FakeStep(1, "store", "CREATE 1;\n"), FakeStep(2, "more", "CREATE 2;\n")]

    async def applied(self) -> Collection[int]:
        return self.done

    async def apply(self) -> Sequence[Step]:
        missing = [step for step in self.known() if step.version not in self.done]
        self.done |= {step.version for step in missing}
        return missing


@pytest.fixture
def migrating(at_the_store: Terminal) -> Terminal:
    vars(at_the_store.app.store)["migrations"] = FakeMigrations()
    return at_the_store


def test_migrations_are_shown_printed_and_applied(migrating: Terminal) -> None:
    status = migrating("db", "status", "-o", "json")
    assert status.code == 1
    assert status.data[1] == {"version": 2, "name": "more", "applied": False}
    assert migrating("db", "sql").out == "-- 0002 more\nCREATE 2;\n\n"
    assert migrating("db", "migrate", "-o", "json").data == [{"version": 2, "name": "more"}]
    assert migrating("db", "migrate").out == "The schema is up to date.\n"
    assert migrating("db", "status").code == 0
    assert migrating("db", "sql", "--all").out.count("CREATE") == 2


def test_a_doctor_knows_a_missing_migration(migrating: Terminal) -> None:
    answer = migrating("doctor")
    assert "✗  store" in answer.out
    assert "1 migration not applied; `drumbeat db migrate` does" in answer.out


def test_a_store_is_measured(here: Path) -> None:
    answer = run("bench", "--store", "memory://", "--jobs", "200", "-o", "json")
    assert answer.code == 0, answer.err
    assert set(answer.data) == {
        "store",
        "jobs",
        "submitted_per_second",
        "run_per_second",
        "latency_p50_ms",
        "latency_p99_ms",
    }
    assert answer.data["jobs"] == 200


def test_a_sqlite_file_has_migrations_that_looking_at_does_not_apply(here: Path) -> None:
    store = ("--store", "sqlite:///new.db")
    status = run(*store, "db", "status", "-o", "json")
    assert status.code == 1
    assert not any(step["applied"] for step in status.data)
    assert not (here / "new.db").exists()
    assert "CREATE TABLE" in run(*store, "db", "sql").out
    applied = run(*store, "db", "migrate", "-o", "json")
    assert applied.code == 0, applied.err
    assert len(applied.data) == len(status.data)
    assert run(*store, "db", "status").code == 0
    assert run(*store, "schedule", "list").out == "There are no schedules.\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_completion(shell: str) -> None:
    assert "_DRUMBEAT_COMPLETE" in run("completion", shell).out


def test_an_unknown_shell_is_bad_usage() -> None:
    assert run("completion", "tcsh").code == 2
