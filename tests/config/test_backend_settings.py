"""What the backends' own variables name, and that none of them is passed over in silence."""

from __future__ import annotations

import pytest

from drumbeat import Drumbeat
from drumbeat.config import Config
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import SettingUnused

SQLITE = "sqlite:///drumbeat.db"


@pytest.mark.parametrize("store", [SQLITE, "memory://", "postgresql://db/app"])
@pytest.mark.parametrize(
    ("name", "text", "address"),
    [
        ("ETCD_CONN_STR", "a:2379,b:2379", "etcd://a:2379,b:2379"),
        ("ETCD_ENDPOINTS", "localhost:2379", "etcd://localhost:2379"),
        ("ETCD_ENDPOINTS", "http://a:2379/, http://b:2379/", "etcd://a:2379,b:2379"),
        ("ETCD_ENDPOINTS", "https://a:2379,b:2379", "etcds://a:2379,b:2379"),
        ("CONSUL_HTTP_ADDR", "127.0.0.1:8500", "consul://127.0.0.1:8500"),
        ("CONSUL_HTTP_ADDR", "http://consul:8500", "consul://consul:8500"),
    ],
)
def test_a_coordinator_of_the_environment_counts_beside_a_store_in_code(
    store: str, name: str, text: str, address: str
) -> None:
    config = Config.load({"store": store}, {name: text})
    assert (config.store, config.coordinator) == (store, address)
    assert str(config.origins["coordinator"]) == f"environment {name}"
    assert config.notes == ()


@pytest.mark.parametrize("text", ["db/app", "mongodb://db/app"])
def test_mongodb_of_the_environment_is_the_store(text: str) -> None:
    config = Config.load({}, {"MONGODB_URI": text})
    assert (config.store, config.coordinator) == ("mongodb://db/app", None)


@pytest.mark.parametrize("text", ["localhost:6379", "redis://localhost:6379"])
def test_redis_is_the_coordinator_beside_a_store_in_memory(text: str) -> None:
    config = Config.load({"store": "memory://"}, {"REDIS_URL": text})
    assert (config.coordinator, config.queue) == ("redis://localhost:6379", None)


@pytest.mark.parametrize("store", [SQLITE, "postgresql://db/app"])
def test_redis_is_the_queue_of_a_shared_store_and_not_a_coordinator(store: str) -> None:
    config = Config.load({"store": store}, {"REDIS_URL": "localhost:6379"})
    assert (config.coordinator, config.queue) == (None, "redis://localhost:6379")
    assert str(config.origins["queue"]) == "environment REDIS_URL"
    assert config.notes == ()


def test_the_queue_of_the_code_overrides_redis_of_the_environment() -> None:
    config = Config.load({"store": SQLITE, "queue": "memory://"}, {"REDIS_URL": "localhost:6379"})
    assert config.queue == "memory://"
    assert config.notes == ("REDIS_URL is not used, since code names the queue",)


@pytest.mark.parametrize(
    ("store", "surroundings", "names"),
    [
        (
            SQLITE,
            {"ETCD_ENDPOINTS": "a:2379", "CONSUL_HTTP_ADDR": "c:8500"},
            "ETCD_ENDPOINTS and CONSUL_HTTP_ADDR each name a coordinator",
        ),
        (
            "memory://",
            {"ETCD_CONN_STR": "a:2379", "REDIS_URL": "c:6379"},
            "REDIS_URL and ETCD_CONN_STR each name a coordinator",
        ),
        (
            None,
            {"POSTGRES_DSN": "postgresql://db/x", "MONGODB_URI": "mongodb://db/x"},
            "POSTGRES_DSN and MONGODB_URI each name a store",
        ),
    ],
)
def test_two_of_one_kind_are_refused_by_their_names(
    store: str | None, surroundings: dict[str, str], names: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Config.load({"store": store}, surroundings)
    assert names in str(refused.value)
    assert "remove all but one, or name it by DRUMBEAT_" in str(refused.value)


def test_the_environment_is_stronger_than_code() -> None:
    code = {"store": SQLITE, "etcd_endpoints": "a:2379"}
    config = Config.load(code, {"CONSUL_HTTP_ADDR": "c:8500"})
    assert config.coordinator == "consul://c:8500"
    assert config.notes == (
        "etcd_endpoints is not used, since environment CONSUL_HTTP_ADDR names the coordinator",
    )


def test_the_coordinators_own_setting_settles_it_and_the_others_are_noted() -> None:
    surroundings = {"DRUMBEAT_COORDINATOR": "memory://", "CONSUL_HTTP_ADDR": "c:8500"}
    for code, environment, origin in (
        ({"store": SQLITE}, surroundings, "environment DRUMBEAT_COORDINATOR"),
        ({"store": SQLITE, "coordinator": "none"}, {"CONSUL_HTTP_ADDR": "c:8500"}, "code"),
    ):
        config = Config.load(code, environment)
        assert config.coordinator in ("memory://", "none")
        assert config.notes == (
            f"CONSUL_HTTP_ADDR is not used, since {origin} names the coordinator",
        )


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("ETCD_ENDPOINTS", "redis://a:2379", "ETCD_ENDPOINTS must be an address of etcd such as"),
        ("ETCD_ENDPOINTS", "http://a,https://b", "ETCD_ENDPOINTS mixes http:// and https://"),
        ("CONSUL_HTTP_ADDR", "unix:///x", "CONSUL_HTTP_ADDR must be an address of Consul"),
    ],
)
def test_what_cannot_be_reached_is_refused(name: str, text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Config.load({"store": SQLITE}, {name: text})
    assert sentence in str(refused.value)


async def test_what_is_not_used_is_told_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    surroundings = {"POSTGRES_DSN": "postgresql://anna:hunter2@db/app"}
    app = Drumbeat("memory://", environment=surroundings)
    told: list[SettingUnused] = []
    app.on(SettingUnused)(told.append)
    async with app.running():
        pass
    assert [event.why for event in told] == ["POSTGRES_DSN is not used, since code names the store"]
    assert "POSTGRES_DSN is not used, since code names the store" in caplog.text
    assert "hunter2" not in caplog.text
