"""Manners: how a client asks."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from drumbeat.model.errors import InvalidInput

TIMEOUT = 30.0
RETRIES = 3


@dataclass(frozen=True, slots=True)
class Manners:
    """How a client asks."""

    timeout: float = TIMEOUT
    """Seconds that the server has for an answer."""
    retries: int = RETRIES
    """How often a question that is safe to repeat is put again."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """For `https` with certificates of your own."""
    reason: str = ""
    """Why changes are asked for that have no reason of their own."""

    def __post_init__(self) -> None:
        if self.timeout <= 0:
            raise InvalidInput(f"timeout must be longer than zero, not {self.timeout!r}")
        if self.retries < 0:
            raise InvalidInput(f"retries must be zero or more, not {self.retries!r}")
