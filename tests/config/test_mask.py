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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://host/path@x", "http:***@x"),
        ("a/b@c:d@e", "a/b@c:***@e"),
        (",http://a:b@h", ",http:***@h"),
        ("TOKEN = 'a b' secret=c;x=y", "TOKEN = *** secret=***;x=y"),
        ("token=a=b&c=d", "token=***&c=d"),
        ("my-api_key-2='open", "my-api_key-2=***"),
        ("token== token", "token=*** token"),
        ("token", "token"),
    ],
)
def test_unusual_texts_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "token" * 200_000,
        "token " * 200_000,
        "token='" * 200_000,
        "token" + " " * 1_000_000,
        ":" * 1_000_000 + "@",
        "a://" * 200_000 + "@",
        ",a" * 400_000 + "@",
    ],
)
def test_a_megabyte_is_masked_as_well(text: str) -> None:
    """Linear, by tests/project/test_regexes.py; an expression of a higher order never ends."""
    assert len(masked(text)) <= len(text) + 200_000 * 3
