"""The store that `drumbeat dev` and `--app` give an app that names none, or that names a server."""

from __future__ import annotations

import pytest

from drumbeat.config import CommandLine, Config, Level, given_on_command_line

FILE = "sqlite:///drumbeat.db"
DEVELOPMENT = CommandLine(default_store=FILE, development_store=FILE)


def load(
    code: dict[str, object],
    environment: dict[str, str] | None = None,
    given: CommandLine = DEVELOPMENT,
) -> Config:
    with given_on_command_line(given):
        return Config.load(code, environment or {})


@pytest.mark.parametrize("store", ["sqlite:///shop.db", "memory://"])
def test_development_keeps_a_store_that_needs_no_server(store: str) -> None:
    config = load({"store": store})
    assert (config.store, config.notes) == (store, ())
    assert load({}, {"DRUMBEAT_STORE": store}).store == store


def test_development_gives_a_file_to_an_app_that_names_no_store() -> None:
    config = load({})
    assert (config.store, config.notes) == (FILE, ())
    assert config.origins["store"].level is Level.DEFAULT


def test_development_replaces_servers_and_says_so_without_their_passwords() -> None:
    code: dict[str, object] = {"store": "postgresql://me:pw@db/shop"}
    config = load(code, {"ETCD_ENDPOINTS": "etcd-1:2379"})
    assert (config.store, config.coordinator, config.queue) == (FILE, None, None)
    store, coordinator = config.notes
    assert "`drumbeat dev` uses sqlite:///drumbeat.db as the store" in store
    assert "postgresql://me:***@db/shop (given by code)" in store
    assert "etcd://etcd-1:2379 (given by environment ETCD_ENDPOINTS)" in coordinator


def test_development_keeps_no_server_beside_a_store_in_memory() -> None:
    config = load({"store": "memory://"}, {"REDIS_URL": "redis://cache"})
    assert (config.store, config.coordinator) == ("memory://", None)


def test_development_uses_the_store_of_the_command_line_and_the_coordinator_of_the_app() -> None:
    given = CommandLine({"store": "postgresql://db/mine"}, FILE, FILE)
    config = load({"coordinator": "etcd://etcd-1:2379"}, given=given)
    assert config.store == "postgresql://db/mine"
    assert config.coordinator == "etcd://etcd-1:2379"


def test_development_uses_the_coordinator_of_the_command_line() -> None:
    given = CommandLine({"coordinator": "etcd://mine:2379"}, FILE, FILE)
    config = load({"store": "postgresql://db/shop"}, given=given)
    assert (config.store, config.coordinator) == (FILE, "etcd://mine:2379")


def test_a_default_store_is_only_for_apps_that_name_none() -> None:
    given = CommandLine(default_store=FILE)
    assert load({}, given=given).store == FILE
    assert load({"store": "postgresql://db/shop"}, given=given).store == "postgresql://db/shop"
