"""What is wrong with the settings is said all at once, in one sentence each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.config import Config, LoadedSettings, Sources
from drumbeat.model.errors import ConfigurationError


def faults(environment: dict[str, str], **code: object) -> list[str]:
    return LoadedSettings.of(Sources(code=code, environment=environment)).faults


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("DRUMBEAT_CONCURRENCY", "many", "concurrency must be a whole number, not 'many'"),
        ("DRUMBEAT_CONCURRENCY", "0", "concurrency must lie between 1 and 10,000, not 0"),
        ("DRUMBEAT_PROCESSES", "0", "processes must lie between 1 and 10,000, not 0"),
        ("DRUMBEAT_NAMESPACE", "my app", "namespace must consist of letters, digits, - and _"),
        ("DRUMBEAT_QUEUES", "mail,,", "queues must name at least one queue, and no empty name"),
        ("LEADER_ELECTION_ENABLED", "maybe", "leader_election must be true or false"),
        ("LEADER_ELECTION_LOCK_TTL", "soon", "lease_ttl: 'soon' is not a duration; allowed:"),
        ("LEADER_ELECTION_LOCK_TTL", "0", "lease_ttl must be longer than zero, not 0"),
        ("HTTP_ADDR", "8080", "http_addr must be ':8080', 'host:8080' or"),
        ("WORKER_HTTP_ADDR", "host:99999", "worker_http_addr must be"),
        ("LOG_LEVEL", "loud", "log_level must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
        ("LOG_FORMAT", "xml", "log_format must be one of TEXT, JSON, not 'xml'"),
        ("DRUMBEAT_STORE", "drumbeat.db", "store must be an address such as 'memory://'"),
        ("DRUMBEAT_STORE", "pigeon://x", "no store is known for pigeon://; this version has"),
        ("DRUMBEAT_STORE", "etcd://x", "no store is known for etcd://; this version has"),
        ("DRUMBEAT_STORE", "redis://x", "since Redis comes with a later version"),
        ("DRUMBEAT_QUEUE", "etcd://x", "no queue is known for etcd://; this version has memory://"),
    ],
)
def test_a_bad_setting_is_named_with_its_origin_and_what_is_allowed(
    name: str, text: str, sentence: str
) -> None:
    (fault,) = faults({name: text})
    assert sentence in fault
    assert fault.endswith(f"(given by environment {name})")


def test_all_that_is_wrong_is_said_at_once() -> None:
    surroundings = {"LOG_LEVEL": "loud", "DRUMBEAT_GRACE": "soon"}
    with pytest.raises(ConfigurationError) as refused:
        Drumbeat("memory://", environment=surroundings, concurrency=0)
    lines = str(refused.value).splitlines()
    assert [line.split()[0] for line in lines] == ["concurrency", "grace:", "log_level"]


def test_a_bad_value_that_is_overridden_does_no_harm() -> None:
    assert faults({"LOG_LEVEL": "loud", "DRUMBEAT_LOG_LEVEL": "INFO"}) == []


def test_an_app_without_any_store_says_how_to_name_one() -> None:
    with pytest.raises(ConfigurationError, match=r"no store is named: .* DRUMBEAT_STORE"):
        Drumbeat(environment={})


def test_a_secret_given_twice_is_refused(tmp_path: Path) -> None:
    (fault,) = faults({"DRUMBEAT_STORE": "memory://", "DRUMBEAT_STORE_FILE": "x"})
    assert fault == (
        "store is given twice, by DRUMBEAT_STORE and by DRUMBEAT_STORE_FILE; remove one of them"
    )


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    (fault,) = faults({"DRUMBEAT_STORE_FILE": str(path)})
    assert fault.startswith(f"store cannot be read from '{path}': No such file or directory")


def test_a_variable_that_looks_like_a_setting_is_noticed_but_does_no_harm() -> None:
    survey = LoadedSettings.of(Sources(environment={"DRUMBEAT_CONCURENCY": "5", "PATH": "x"}))
    assert survey.faults == []
    assert survey.unknown == [
        "DRUMBEAT_CONCURENCY is not a setting; did you mean DRUMBEAT_CONCURRENCY?"
    ]


def test_a_fault_never_shows_a_password() -> None:
    (fault,) = faults({"DRUMBEAT_STORE": "redis://anna:hunter2@db"})
    assert "hunter2" not in fault
    config = Config.load({"store": "memory://"}, {"POSTGRES_DSN": "postgresql://anna:hunter2@db"})
    assert "hunter2" not in repr(config)
    assert config.shown("postgres_dsn") == "postgresql://anna:***@db"


@pytest.mark.parametrize("given", [5, Path("drumbeat.db")])
def test_what_is_no_address_is_refused_by_a_sentence(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"store must be an address such as 'sqlite:///"):
        Drumbeat(given, environment={})
    with pytest.raises(ConfigurationError, match=r"coordinator must be an address"):
        Drumbeat("memory://", coordinator=given, environment={})


@pytest.mark.parametrize("token", ["", "secret", "x" * 64, "abcabcabcabcabcabcabcabc"])
def test_a_token_that_can_be_guessed_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(ConfigurationError, match="api_token is too easy to guess") as refused:
        Config(api_token=token)
    assert "openssl rand -hex 32" in str(refused.value)
    assert not token or token not in str(refused.value)


def test_a_token_that_was_made_by_chance_is_taken() -> None:
    assert Config(api_token="7f3a9c0be1d24586a7f3a9c0be1d2458").api_token is not None
