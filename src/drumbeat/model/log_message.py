"""Log messages: a sentence with its facts in one text, so that any log format shows both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from traceback import format_exception_only
from typing import Any

from drumbeat.model.errors import DrumbeatError
from drumbeat.model.visible_text import visible

QUOTED = frozenset(' "=\t\n\r')
LONGEST_SUMMARY = 500
"""Characters of an error in a message; its traceback has all of it."""


@dataclass(frozen=True, slots=True)
class LogMessage:
    """`Task failed task=send job_id=7`: a sentence, and facts by name."""

    sentence: str
    facts: Mapping[str, object]

    @property
    def template(self) -> str:
        """The message with one placeholder for all facts.

        It is the same for each record of the sentence, so error trackers group them.
        """
        return f"{self.sentence.replace('%', '%%')}%s" if self.facts else self.sentence

    @property
    def arguments(self) -> tuple[object, ...]:
        """What the placeholder stands for: the facts."""
        return (_Written(self.facts),) if self.facts else ()

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes of the log record, for formats that show facts apart from the sentence."""
        return {"sentence": self.sentence, "facts": self.facts}


def written(facts: Mapping[str, object]) -> str:
    """` task=send error="no account"`: one line, with a space before each fact."""
    return "".join(f" {visible(name)}={_quoted(text_of(value))}" for name, value in facts.items())


class _Written:
    """Facts that become text when a handler writes them."""

    __slots__ = ("_facts",)

    def __init__(self, facts: Mapping[str, object]) -> None:
        self._facts = facts

    def __str__(self) -> str:
        return written(self._facts)

    __repr__ = __str__


def text_of(value: object) -> str:
    """The value of a fact as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    return summary(value) if isinstance(value, BaseException) else str(value)


def summary(error: BaseException) -> str:
    """The first line of an error, with its type unless it is one of ours, which are sentences."""
    text = str(error) if isinstance(error, DrumbeatError) else "".join(format_exception_only(error))
    line = next((line for line in text.splitlines() if line and not line.startswith(" ")), "")
    return line if len(line) <= LONGEST_SUMMARY else f"{line[:LONGEST_SUMMARY]}..."


def _quoted(text: str) -> str:
    if not text or QUOTED.intersection(text):
        text = json.dumps(text, ensure_ascii=False)
    return visible(text)
