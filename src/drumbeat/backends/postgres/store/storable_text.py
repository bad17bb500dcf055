"""Text that PostgreSQL can store: without NUL characters and unpaired surrogates."""

from __future__ import annotations

from drumbeat.model.errors import InvalidInput

NUL = "\0"
INSTEAD = "\N{REPLACEMENT CHARACTER}"


def readable(text: str | None) -> str | None:
    """A text for people, with each character that cannot be stored replaced."""
    if text is None or (text.isascii() and NUL not in text):
        return text
    return text.encode(errors="replace").decode().replace(NUL, INSTEAD)


def name(field: str, text: str) -> str:
    """A name, unchanged; `InvalidInput` if it cannot be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        storable = False
    else:
        storable = NUL not in text
    if not storable:
        raise InvalidInput(
            f"{field} {text!r} has a character that PostgreSQL cannot keep; leave it out"
        )
    return text
