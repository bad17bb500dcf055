"""Views as the JSON values that `-o json` prints. They are those of the HTTP API."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def as_json(value: object) -> Any:
    """The value, its views and raw JSON included, as plain dictionaries, lists and texts."""
    return json.loads(msgspec.json.encode(value))


def compact(value: object) -> str:
    return json.dumps(as_json(value), ensure_ascii=False)
