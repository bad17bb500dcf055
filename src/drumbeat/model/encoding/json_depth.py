"""The nesting depth of JSON, found without recursion.

JSON decoders are recursive and fail on a document that is nested too deeply. So deep documents are
rejected on input, and shown as text if they are stored already.
"""

from __future__ import annotations

import re

from drumbeat.model.errors import InvalidArguments

MOST_DEPTH = 100
"""How deeply the arguments and the result of a job may be nested; the object itself counts."""
DEEPEST_BODY = MOST_DEPTH + 10
"""The same for the body of a request, which contains arguments."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_ALIKE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def is_deeper(document: bytes, most: int = MOST_DEPTH) -> bool:
    """Whether a JSON document is nested more deeply than that.

    Each pass takes the innermost brackets away, so no more than `most` passes are needed. An
    invalid document whose brackets do not match counts as deep if it has more than `most` of them.
    """
    if document.count(b"[") + document.count(b"{") <= most:
        return False  # the usual case
    brackets = _STRING.sub(b"", document).translate(_ALIKE, _NO_BRACKETS)
    for _ in range(most):
        if not brackets:
            return False
        inner = brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            return True
        brackets = inner
    return brackets != b""


def refuse_deep_arguments(task: str, arguments: bytes) -> None:
    """Refuse arguments that are nested too deeply, with `InvalidArguments`."""
    if is_deeper(arguments):
        raise InvalidArguments(
            f"task {task!r}: the arguments are nested more than {MOST_DEPTH} levels deep; "
            f"flatten them, or pass them as text"
        )
