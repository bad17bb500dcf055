"""The depth of JSON is found without recursion."""

from __future__ import annotations

import json

import pytest

from drumbeat.model.encoding.json_depth import MOST_DEPTH, is_deeper


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize(
    ("document", "deep"),
    [
        (nested(MOST_DEPTH), False),
        (nested(MOST_DEPTH + 1), True),
        (b'{"a":' * 101 + b"1" + b"}" * 101, True),
        (b'[{"a":' * 50 + b"1" + b"}]" * 50, False),
        (b'[{"a":' * 51 + b"1" + b"}]" * 51, True),
        (json.dumps([[1], {"a": []}] * 10_000).encode(), False),
        (json.dumps(["[" * 500, '"{\\"' * 500]).encode(), False),
        (nested(100_000), True),
        (b"[" * 200, True),
        (b'"' + b'\\"' * 100_000 + b"[" * 200, False),
        (b"", False),
    ],
)
def test_a_deep_document_is_known(document: bytes, deep: bool) -> None:
    assert is_deeper(document) is deep
