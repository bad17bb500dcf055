"""Numbers that look random, and are the same on every node and in every release."""

from __future__ import annotations

from hashlib import blake2b


def drawn(key: str, choices: int) -> int:
    """A number from 0 up to, not including, `choices`, fixed by the key."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % choices
