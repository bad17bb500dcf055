"""Tokens: how one is written, what is kept of it, and whom it lets in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from drumbeat.model.errors import InvalidOption, NaiveDatetime
from drumbeat.model.fleet.token import NewToken, Scope, TokenRecord
from drumbeat.rules.tokens import (
    Admitted,
    Expired,
    Revoked,
    Unknown,
    digest_of,
    id_of,
    judged,
    token_of,
)

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
RECORD = TokenRecord(1, "ci", digest_of("secret"), Scope.OPERATOR, NOON)


def test_a_token_has_a_prefix_and_all_its_entropy() -> None:
    assert token_of(bytes(32)) == "drum_" + "A" * 43
    assert token_of(b"\xff" * 32) == "drum_" + "_" * 42 + "8"


def test_a_digest_tells_nothing_of_the_token() -> None:
    known = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    assert digest_of("secret") == known
    assert digest_of("\ud800") != digest_of("")


def test_each_scope_allows_itself_and_those_before_it() -> None:
    assert [*Scope] == [Scope.VIEWER, Scope.SUBMITTER, Scope.OPERATOR, Scope.ADMIN]
    for lower, higher in pairwise(Scope):
        assert higher.allows(lower)
        assert higher.allows(higher)
        assert not lower.allows(higher)
    assert not Scope.VIEWER.allows(Scope.ADMIN)


def test_a_token_lets_in_until_it_is_revoked_or_over() -> None:
    later = NOON + timedelta(seconds=1)
    expires = replace(RECORD, expires_at=later)
    revoked = replace(expires, revoked_at=NOON)
    assert judged(None, NOON) == Unknown()
    assert judged(RECORD, NOON) == Admitted(RECORD)
    assert judged(expires, NOON) == Admitted(expires)
    assert judged(expires, later) == Expired(expires)
    assert judged(revoked, later) == Revoked(revoked)
    admitted = judged(RECORD, NOON)
    assert isinstance(admitted, Admitted)
    assert admitted.scope is Scope.OPERATOR


def test_a_number_is_an_id_and_anything_else_a_name() -> None:
    assert (id_of("12"), id_of("ci"), id_of("1a"), id_of("-1")) == (12, None, None, None)
    assert id_of("9" * 40) == 0


@pytest.mark.parametrize("name", ["", "  ", "12", "\u0662", "a\nb", "x" * 101])
def test_a_name_that_would_mislead_is_refused(name: str) -> None:
    with pytest.raises(InvalidOption, match="name of a token"):
        NewToken(name, "0", Scope.VIEWER)


def test_an_expiry_without_a_zone_is_refused() -> None:
    with pytest.raises(NaiveDatetime, match="expires_at"):
        NewToken("ci", "0", Scope.VIEWER, NOON.replace(tzinfo=None))
