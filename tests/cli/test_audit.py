"""`drumbeat audit`, over a store and over a server."""

from __future__ import annotations

from .support import Terminal


def test_a_log_without_entries_says_so(terminal: Terminal) -> None:
    assert terminal("audit").out == "No such change was asked for.\n"
    assert terminal("audit", "-o", "json").data == []


def test_changes_are_shown_newest_first_with_who_and_why(terminal: Terminal) -> None:
    terminal("queue", "pause", "mail", "--reason", "too much")
    terminal("queue", "pause", "post")
    post, mail = terminal("audit", "-o", "json").data
    assert (mail["action"], mail["reason"], mail["outcome"]) == ("queue.pause", "too much", "done")
    assert mail["actor"]
    assert "too much" in terminal("audit", "--action", "queue.pause").out
    assert terminal("audit", "--target", post["target"], "-o", "json").data == [post]
    assert terminal("audit", "--action", "token.create", "-o", "json").data == []
    assert terminal("audit", "--since", "+1h", "-o", "json").data == []
    answer = terminal("audit", "--limit", "1", "-o", "json")
    assert answer.data == [post]
    assert "There are more" in answer.err
