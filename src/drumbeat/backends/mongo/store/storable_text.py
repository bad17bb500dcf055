"""Text that MongoDB can store: without unpaired surrogates, since it is kept as UTF-8."""

from __future__ import annotations

from drumbeat.model.errors import InvalidInput


def readable(text: str | None) -> str | None:
    """A text for people, with each character that cannot be stored replaced."""
    if text is None or text.isascii():
        return text
    return text.encode(errors="replace").decode()


def name(field: str, text: str) -> str:
    """A name, unchanged; `InvalidInput` if it cannot be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{field} {text!r} has a character that MongoDB cannot keep; leave it out"
        ) from None
    return text
