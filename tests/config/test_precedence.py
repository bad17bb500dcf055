"""Every setting can be given in five places, and the strongest place counts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.config import SETTINGS, CommandLine, Config, Level, given_on_command_line
from drumbeat.config.setting import Setting

EVERYWHERE: Mapping[str, Mapping[str, object]] = {
    "code": {"concurrency": 1},
    "dotenv": {"DRUMBEAT_CONCURRENCY": "2"},
    "environment": {"DRUMBEAT_CONCURRENCY": "3"},
    "command_line": {"concurrency": "4"},
}


def loaded(*sources: str) -> Config:
    given: dict[str, Any] = {
        name: EVERYWHERE[name] if name in sources else {} for name in EVERYWHERE
    }
    return Config.load(**given)


@pytest.mark.parametrize(
    ("sources", "value", "origin"),
    [
        ((), 100, "default"),
        (("code",), 1, "code"),
        (("code", "dotenv"), 2, ".env DRUMBEAT_CONCURRENCY"),
        (("dotenv", "environment"), 3, "environment DRUMBEAT_CONCURRENCY"),
        (("code", "environment"), 3, "environment DRUMBEAT_CONCURRENCY"),
        (("environment", "command_line"), 4, "command line --concurrency"),
        (tuple(EVERYWHERE), 4, "command line --concurrency"),
    ],
)
def test_the_strongest_source_counts(sources: tuple[str, ...], value: int, origin: str) -> None:
    config = loaded(*sources)
    assert (config.concurrency, str(config.origins["concurrency"])) == (value, origin)


NAMES = [
    ("LEADER_ELECTION_ENABLED", "false", "leader_election", False),
    ("LEADER_ELECTION_INSTANCE_ID", "web-1", "instance_id", "web-1"),
    ("WORKER_ID", "worker-1", "instance_id", "worker-1"),
    ("LEADER_ELECTION_LOCK_TTL", "15s", "lease_ttl", "15s"),
    ("LEADER_ELECTION_RENEW_INTERVAL", "2", "renew_interval", "2"),
    ("LEADER_ELECTION_RETRY_INTERVAL", "3", "retry_interval", "3"),
    ("HTTP_ADDR", ":8080", "http_addr", ":8080"),
    ("WORKER_HTTP_ADDR", ":9091", "worker_http_addr", ":9091"),
    ("LOG_LEVEL", "debug", "log_level", "DEBUG"),
    ("LOG_FORMAT", "json", "log_format", "JSON"),
    ("POSTGRES_DSN", "postgresql://db/app", "postgres_dsn", "postgresql://db/app"),
    ("REDIS_URL", "localhost:6379", "redis_url", "localhost:6379"),
    ("ETCD_ENDPOINTS", "a:2379,b:2379", "etcd_endpoints", "a:2379,b:2379"),
    ("ETCD_CONN_STR", "a:2379,b:2379", "etcd_endpoints", "a:2379,b:2379"),
    ("CONSUL_HTTP_ADDR", "http://consul:8500", "consul_http_addr", "http://consul:8500"),
    ("MONGODB_URI", "mongodb://db", "mongodb_uri", "mongodb://db"),
    ("REDIS_STREAM_NAME", "work", "redis_stream_name", "work"),
    ("REDIS_GROUP_NAME", "crew", "redis_group_name", "crew"),
]


@pytest.mark.parametrize("prefix", ["", "DRUMBEAT_"])
@pytest.mark.parametrize(("name", "text", "setting", "value"), NAMES)
def test_every_name_of_the_source_documents_works_with_and_without_the_prefix(
    prefix: str, name: str, text: str, setting: str, value: object
) -> None:
    config = Config.load({"store": "memory://"}, {prefix + name: text})
    assert getattr(config, setting) == value
    assert config.origins[setting].name == prefix + name


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: each.name)
def test_every_setting_has_a_variable_of_its_own_name(each: Setting) -> None:
    assert each.variables[0] == f"DRUMBEAT_{each.name.upper()}"


def test_the_prefixed_name_wins_over_the_plain_one() -> None:
    config = Config.load({}, {"LOG_LEVEL": "ERROR", "DRUMBEAT_LOG_LEVEL": "DEBUG"})
    assert config.log_level == "DEBUG"


def test_the_more_telling_of_two_plain_names_wins() -> None:
    config = Config.load({}, {"WORKER_ID": "b", "LEADER_ELECTION_INSTANCE_ID": "a"})
    assert config.instance_id == "a"


def test_an_empty_variable_counts_as_none() -> None:
    assert Config.load({"grace": 5}, {"DRUMBEAT_GRACE": ""}).seconds("grace") == 5


@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "True", " YES "])
def test_a_yes_has_many_forms(word: str) -> None:
    assert Config.load(
        {"leader_election": False}, {"LEADER_ELECTION_ENABLED": word}
    ).leader_election


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "False"])
def test_a_no_has_many_forms(word: str) -> None:
    assert not Config.load({}, {"LEADER_ELECTION_ENABLED": word}).leader_election


@pytest.mark.parametrize(("text", "seconds"), [("15s", 15), ("1h30m", 5400), ("45", 45)])
def test_a_length_of_time_has_many_forms(text: str, seconds: float) -> None:
    config = Config.load({}, {"DRUMBEAT_GRACE": text})
    assert config.length("grace") == timedelta(seconds=seconds)


def test_names_are_separated_by_commas() -> None:
    assert Config.load({}, {"DRUMBEAT_QUEUES": "mail, default"}).queues == ("mail", "default")


def test_a_secret_can_be_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "store"
    file.write_text("memory://\n", encoding="utf-8")
    config = Config.load({}, {"DRUMBEAT_STORE_FILE": str(file)})
    assert config.store == "memory://"
    assert str(config.origins["store"]) == "environment DRUMBEAT_STORE_FILE"


def test_the_dotenv_file_of_the_working_directory_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("DRUMBEAT_GRACE=7s\nLOG_LEVEL=ERROR\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    config = Config.load()
    assert (config.seconds("grace"), config.origins["grace"].level) == (7, Level.DOTENV)
    assert (config.log_level, config.origins["log_level"].level) == ("DEBUG", Level.ENVIRONMENT)


def test_an_app_is_made_of_its_code_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRUMBEAT_CONCURRENCY", "7")
    app = Drumbeat("memory://", concurrency=3, namespace="shop")
    assert (app.settings.concurrency, app.settings.namespace) == (7, "shop")


def test_an_app_with_an_empty_environment_reads_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("DRUMBEAT_GRACE=7s\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRUMBEAT_CONCURRENCY", "7")
    app = Drumbeat("memory://", concurrency=3, environment={})
    assert (app.settings.concurrency, app.settings.seconds("grace")) == (3, 30)


def test_the_environment_may_name_the_store() -> None:
    assert Drumbeat(environment={"DRUMBEAT_STORE": "memory://"}).settings.store == "memory://"


def test_a_store_that_the_user_made_stands_above_all_addresses() -> None:
    made = Drumbeat("memory://", environment={}).store
    app = Drumbeat(made, environment={"DRUMBEAT_STORE": "sqlite:///other.db", "REDIS_URL": "r"})
    assert app.store is made
    assert app.settings.store == "<MemoryStore>"


def test_backends_of_the_environment_leave_a_store_alone_that_code_names() -> None:
    surroundings = {"POSTGRES_DSN": "postgresql://db/x", "REDIS_URL": "redis://cache"}
    assert Drumbeat("memory://", environment=surroundings).settings.store == "memory://"


def test_the_command_line_reaches_apps_that_are_made_while_their_module_is_imported() -> None:
    with given_on_command_line(CommandLine({"concurrency": "9"})):
        app = Drumbeat("memory://", concurrency=3, environment={})
    assert app.settings.concurrency == 9
    assert Drumbeat("memory://", concurrency=3, environment={}).settings.concurrency == 3
