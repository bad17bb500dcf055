"""`drumbeat token`: tokens are shown once, and then only spoken of."""

from __future__ import annotations

import re

from drumbeat.model.fleet.token import Scope
from drumbeat.rules.tokens import digest_of

from .support import Terminal
from .test_queue import audit

TOKEN = re.compile(r"drum_[A-Za-z0-9_-]{43}")


def test_a_token_is_printed_once_and_only_its_digest_is_kept(terminal: Terminal) -> None:
    answer = terminal("token", "create", "ci", "--scope", "submitter")
    token = answer.out.strip()
    assert TOKEN.fullmatch(token)
    assert "the only time" in answer.err
    record = terminal.do(terminal.app.store.tokens.find(digest_of(token)))
    assert record is not None
    assert (record.name, record.scope, record.expires_at) == ("ci", Scope.SUBMITTER, None)
    assert not TOKEN.search(terminal("token", "list").out)
    assert digest_of(token) not in terminal("token", "list", "-o", "json").out
    assert token not in repr(audit(terminal))


def test_no_two_tokens_are_alike(terminal: Terminal) -> None:
    tokens = {terminal("token", "create", f"t{number}").out for number in range(5)}
    assert len(tokens) == 5


def test_a_token_may_expire(terminal: Terminal) -> None:
    made = terminal("token", "create", "ci", "--expires-in", "1h", "-o", "json").data
    assert (made["state"], made["scope"]) == ("active", "viewer")
    assert TOKEN.fullmatch(made["token"])
    terminal.do(terminal.clock.advance("2h"))
    (listed,) = terminal("token", "list", "-o", "json").data
    assert (listed["state"], "token" in listed, "digest" in listed) == ("expired", False, False)


def test_a_token_is_revoked_by_its_name_or_its_id(terminal: Terminal) -> None:
    for name in ("a", "b"):
        terminal("token", "create", name)
    assert terminal("token", "revoke", "a").out == "The token a is revoked.\n"
    assert terminal("token", "revoke", "2", "-o", "json").data["name"] == "b"
    states = [each["state"] for each in terminal("token", "list", "-o", "json").data]
    assert states == ["revoked", "revoked"]
    answer = terminal("token", "revoke", "c")
    assert (answer.code, answer.err) == (3, "Error: no token has the name or the id 'c'\n")


def test_a_name_that_is_taken_is_refused(terminal: Terminal) -> None:
    terminal("token", "create", "ci")
    answer = terminal("token", "create", "ci")
    assert (answer.code, answer.out) == (4, "")
    assert "is in use; revoke it" in answer.err
    refused, _ = audit(terminal)
    assert refused.outcome in ("refused: the name is taken", "name-taken")


def test_a_name_that_is_a_number_is_refused(terminal: Terminal) -> None:
    answer = terminal("token", "create", "12")
    assert answer.code == 2
    assert "must not be a number" in answer.err


def test_a_store_without_tokens_says_so(terminal: Terminal) -> None:
    assert terminal("token", "list").out == "There are no tokens.\n"


def test_a_token_that_would_be_over_at_once_is_not_made(terminal: Terminal) -> None:
    answer = terminal("token", "create", "ci", "--expires-in", "0s")
    assert (answer.code, answer.err) == (2, "Error: --expires-in must be longer than zero\n")
    assert terminal("token", "list", "-o", "json").data == []
