"""The result of one check of `drumbeat doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, whether it is in order, and what was found."""

    name: str
    ok: bool
    found: str
