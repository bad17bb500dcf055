"""The error for a server that is not installed."""

from __future__ import annotations


class Missing(Exception):
    """Says which server is missing and how to install it."""

    def __init__(self, server: str, remedy: str, *, needed: bool = True) -> None:
        super().__init__(f"{server} is missing: run `{remedy}`.")
        self.server = server
        self.remedy = remedy
        self.needed = needed
        """Whether tests should insist on it, where they can."""
