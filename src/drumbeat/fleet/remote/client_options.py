"""How a client sends requests."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from drumbeat.model.errors import InvalidInput

TIMEOUT = 30.0
RETRIES = 3


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How a client sends requests."""

    timeout: float = TIMEOUT
    """Seconds in which the server has to respond."""
    retries: int = RETRIES
    """How often a request that is safe to repeat is sent again."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """For `https` with your own certificates."""
    reason: str = ""
    """The reason of every change that has no reason of its own."""

    def __post_init__(self) -> None:
        if self.timeout <= 0:
            raise InvalidInput(f"timeout must be longer than zero, not {self.timeout!r}")
        if self.retries < 0:
            raise InvalidInput(f"retries must be zero or more, not {self.retries!r}")
