"""New tokens: the one place where randomness does not come from the runtime.

The runtime's randomness can be seeded, so that a simulation can be repeated. A token must never be
repeatable: it comes from the operating system only.
"""

from __future__ import annotations

import secrets

from drumbeat.rules.tokens import ENTROPY, token_of


def new_token() -> str:
    """A token that nobody can guess. It is shown once, and not stored."""
    return token_of(secrets.token_bytes(ENTROPY))
