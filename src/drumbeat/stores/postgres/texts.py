"""Texts: what PostgreSQL can keep of them. It knows no NUL, and UTF-8 knows no half characters."""

from __future__ import annotations

from drumbeat.model.errors import InvalidInput

NUL = "\0"
INSTEAD = "\N{REPLACEMENT CHARACTER}"


def readable(text: str | None) -> str | None:
    """A text for people, with a mark in place of each character that cannot be kept."""
    if text is None or (text.isascii() and NUL not in text):
        return text
    return text.encode(errors="replace").decode().replace(NUL, INSTEAD)


def name(field: str, text: str) -> str:
    """A name, as it is; one that cannot be kept is refused by the field's name."""
    if NUL in text or not _has_characters_only(text):
        raise InvalidInput(
            f"{field} {text!r} has a character that PostgreSQL cannot keep; leave it out"
        )
    return text


def _has_characters_only(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
