"""Dedupe: how long a submitted job may keep its key."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.model.errors import InvalidOption

LONGEST_DEDUPE = timedelta(days=365)
"""How long a submitted job may keep its dedupe key after its end."""


def check_dedupe_for(length: timedelta) -> None:
    """Reject a longer one; `JobSpec` itself does not, so that stored jobs stay readable."""
    if length > LONGEST_DEDUPE:
        raise InvalidOption(f"dedupe_for must be at most {LONGEST_DEDUPE.days} days, not {length}")
