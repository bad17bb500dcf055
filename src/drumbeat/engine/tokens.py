"""New tokens: the one place where randomness does not come from the runtime.

The runtime's randomness can be seeded, so that a simulation can be run again. A token must never
be something that can be run again: it comes from the operating system, and from nowhere else.
"""

from __future__ import annotations

import secrets

from drumbeat.rules.tokens import ENTROPY, token_of


def new_token() -> str:
    """A token that nobody has seen and nobody can guess. It is shown once, and not kept."""
    return token_of(secrets.token_bytes(ENTROPY))
