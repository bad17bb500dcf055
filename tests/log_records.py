"""What log records say: the sentence of each, apart from its facts."""

from __future__ import annotations

import logging
from collections.abc import Iterable


def sentence_of(record: logging.LogRecord) -> str:
    """The sentence of a record, without the facts that its message has too."""
    sentence: str = record.__dict__.get("sentence") or record.getMessage()
    return sentence


def sentences(records: Iterable[logging.LogRecord]) -> list[str]:
    return [sentence_of(record) for record in records]
