"""The actor: for whom a local fleet acts, as the audit log names them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes changes, and why unless a change has a reason of its own."""

    name: str
    """The name of a token, or of a person and how they came: `anna (terminal)`."""
    reason: str = ""
