"""Error texts of failed jobs, bounded and in a form that every store can keep."""

from __future__ import annotations

ERROR_LIMIT = 16 * 1024
"""Bytes of UTF-8."""
CUT = "\n... {left_out:,} bytes left out ...\n"


def bounded(text: str) -> str:
    """The text, or its head and its tail if it is longer than `ERROR_LIMIT`.

    The head of a traceback shows where it began, and its tail what went wrong. Characters that some
    store would reject are replaced, since a job with them could never be settled.
    """
    encoded = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace")
    if len(encoded) <= ERROR_LIMIT:
        return encoded.decode()
    kept = (ERROR_LIMIT - 2 * len(CUT)) // 2
    head = encoded[:kept].decode(errors="ignore")
    tail = encoded[-kept:].decode(errors="ignore")
    return head + CUT.format(left_out=len(encoded) - 2 * kept) + tail
