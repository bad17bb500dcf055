"""Words: small pieces of the sentences that commands say."""

from __future__ import annotations


def last_line(text: str) -> str:
    """The line that says what went wrong: the last one of a traceback."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
