"""Errors on the wire: problem documents of RFC 9457."""

from __future__ import annotations

from msgspec import Struct

MEDIA_TYPE = "application/problem+json"
KIND = "urn:drumbeat:problem:"


class ProblemView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was rejected, and how to correct it."""

    type: str
    """`urn:drumbeat:problem:` and a word that programs may rely on."""
    title: str
    status: int
    detail: str
    """A sentence that says what to do."""
    field: str | None = None
    """The part of the request that is wrong."""
    rule: str | None = None
    """The rule for that part."""
    version: int | None = None
    """Of a `version-mismatch`: the present version of the schedule; absent if there is none."""
