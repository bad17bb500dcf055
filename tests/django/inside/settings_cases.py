"""The settings `DRUMBEAT`, the checks, and the addresses of databases."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import run_checks
from django.test import override_settings

from drumbeat.backends.postgres.connection.address import parse_address
from drumbeat.django.database import address_of
from drumbeat.django.project_settings import ProjectSettings
from drumbeat.model.errors import ConfigurationError
from tests.django.inside.conftest import FILE


def complaints(**given: Any) -> dict[str, str]:
    """What the checks say about these settings, by their ids."""
    with override_settings(DRUMBEAT=given):
        return {
            str(each.id): f"{each.msg} {each.hint or ''}"
            for each in run_checks()
            if str(each.id).startswith("drumbeat.")
        }


def test_good_settings_are_not_mentioned() -> None:
    assert complaints(STORE="sqlite:///jobs.db", NAMESPACE="shop", CONCURRENCY=4) == {}


def test_an_unknown_key_is_named_with_the_nearest_one() -> None:
    told = complaints(STORE="sqlite:///jobs.db", CONCURENCY=4)
    assert "unknown key 'CONCURENCY'" in told["drumbeat.E002"]
    assert "'CONCURRENCY'" in told["drumbeat.E002"]
    told = complaints(STORE="sqlite:///jobs.db", concurrency=4)
    assert "Did you mean 'CONCURRENCY'?" in told["drumbeat.E002"]


def test_a_bad_value_is_named() -> None:
    told = complaints(STORE="sqlite:///jobs.db", CONCURRENCY="many", LEASE_TTL="soon")
    assert "drumbeat.E001" in told
    with override_settings(DRUMBEAT="sqlite:///jobs.db"):
        assert any("must be a dictionary" in each.msg for each in run_checks())


def test_a_missing_store_is_an_error_unless_the_database_is_on_postgresql() -> None:
    assert "names no store" in complaints()["drumbeat.E003"]


def test_a_store_in_memory_is_a_warning() -> None:
    assert "does not see what `runserver` submits" in complaints(STORE="memory://")["drumbeat.W001"]
    with override_settings(DEBUG=False):
        assert "web processes submit" in complaints(STORE="memory://")["drumbeat.W001"]


def test_a_missing_driver_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import drumbeat.django.checks as module

    def nothing_is_installed(_: str) -> None: ...

    monkeypatch.setattr(module, "find_spec", nothing_is_installed)
    told = complaints(STORE="postgresql://db/shop")["drumbeat.E004"]
    assert "extra 'postgres'" in told
    assert "pip install" in told


def test_the_file_of_a_django_database_is_no_store() -> None:
    assert "drumbeat.E005" in complaints(STORE=f"sqlite:///{FILE}")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"DATABASE": "other"}, "DATABASES does not have"),
        ({"DATABASE": "default"}, "not on PostgreSQL"),
        ({"DATABASE": "default", "STORE": "memory://"}, "remove one of them"),
    ],
)
def test_a_database_that_cannot_be_the_store_is_explained(given: Any, why: str) -> None:
    assert why in complaints(**given)["drumbeat.E001"]
    with override_settings(DRUMBEAT=given), pytest.raises(ConfigurationError, match=why):
        ProjectSettings.read()


@pytest.mark.parametrize(
    ("database", "address"),
    [
        ({"NAME": "shop"}, "postgresql:///shop"),
        (
            {"NAME": "shop", "USER": "anna", "PASSWORD": "p@:/s", "HOST": "db", "PORT": 5433},
            "postgresql://anna:p%40%3A%2Fs@db:5433/shop",
        ),
        (
            {"NAME": "shop", "HOST": "/run/postgresql", "PORT": "5433"},
            "postgresql:///shop?host=%2Frun%2Fpostgresql&port=5433",
        ),
        ({"NAME": "shop", "HOST": "::1", "PORT": ""}, "postgresql://[::1]/shop"),
        ({"NAME": "shop", "HOST": "a,b", "PORT": "5432"}, "postgresql://a:5432,b:5432/shop"),
        (
            {"NAME": "shop", "HOST": "db", "OPTIONS": {"sslmode": "require", "pool": True}},
            "postgresql://db/shop?sslmode=require",
        ),
    ],
)
def test_an_entry_of_databases_becomes_an_address(database: Any, address: str) -> None:
    assert address_of(database) == address
    parse_address(address)
