"""Secrets are taken out of whatever is shown, rather too much than too little."""

from __future__ import annotations

import pytest

from drumbeat.config import masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://anna@db/app", "postgresql://***@db/app"),
        ("consul://hunter2@db:8500", "consul://***@db:8500"),
        ("postgresql://anna:hunter2@db/app", "postgresql://anna:***@db/app"),
        ("redis://:hunter2@cache:6379/0", "redis://:***@cache:6379/0"),
        ("postgresql://anna:hu@n/t:er2@db/app", "postgresql://anna:***@db/app"),
        ("http://a:b@h1:2379,http://c:d@h2:2379", "http://a:***@h1:2379,http://c:***@h2:2379"),
        ("host=db user=anna password=hunter2", "host=db user=anna password=***"),
        ("https://consul:8500?token=abc&dc=eu", "https://consul:8500?token=***&dc=eu"),
        ("cannot reach 'anna:hunter2@db', again", "cannot reach 'anna:***@db', again"),
    ],
)
def test_a_secret_is_hidden(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "memory://",
        "sqlite:////var/lib/drumbeat.db",
        "anna@example.org",
        "at 10:30 it was, at 12:00",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text
