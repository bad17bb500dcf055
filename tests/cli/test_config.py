"""Values that the fleet shares, over a store and over a server."""

from __future__ import annotations

from .support import Terminal


def test_a_value_is_written_read_and_deleted(terminal: Terminal) -> None:
    written = terminal("config", "put", "limits", '{"mails": 5}', "-o", "json")
    assert written.code == 0, written.err
    assert written.data["value"] == {"mails": 5}
    assert terminal("config", "get", "limits").out == '{"mails": 5}\n'
    assert terminal("config", "delete", "limits").out == "limits was deleted\n"
    assert terminal("config", "get", "limits").code == 3
    assert terminal("config", "delete", "limits").code == 3


def test_a_value_that_is_not_json_is_a_text(terminal: Terminal) -> None:
    terminal("config", "put", "colour", "blue")
    assert terminal("config", "get", "colour", "-o", "json").data["value"] == "blue"


def test_a_value_is_written_only_at_its_revision(terminal: Terminal) -> None:
    first = terminal("config", "put", "colour", "blue", "--revision", "0", "-o", "json")
    assert first.code == 0, first.err
    assert terminal("config", "put", "colour", "red", "--revision", "0").code == 4
    at = str(first.data["revision"])
    assert terminal("config", "put", "colour", "red", "--revision", at).code == 0
    stale = terminal("config", "delete", "colour", "--revision", at)
    assert stale.code == 4
    assert "no longer at revision" in stale.err
