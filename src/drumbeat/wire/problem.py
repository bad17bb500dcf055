"""A refusal on the wire: a problem document of RFC 9457."""

from __future__ import annotations

from msgspec import Struct

MEDIA_TYPE = "application/problem+json"
KIND = "urn:drumbeat:problem:"


class ProblemView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was refused, why, and what would be allowed."""

    type: str
    """`urn:drumbeat:problem:` and a word that programs may rely on."""
    title: str
    status: int
    detail: str
    """The sentence that names the fix."""
    field: str | None = None
    """Which part of the request is meant."""
    rule: str | None = None
    """What that part has to keep to."""
    version: int | None = None
    """Of a `version-mismatch`: the present version of the schedule; absent if there is none."""
