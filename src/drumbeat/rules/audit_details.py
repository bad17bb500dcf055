"""The details of an audit note as JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from drumbeat.model.errors import InvalidInput


def written(details: Mapping[str, object]) -> str:
    """The details as ASCII JSON; raises `InvalidInput` if that is not possible."""
    try:
        return json.dumps(dict(details), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"details of an audit note must be JSON: {error}") from None


def read(text: str) -> dict[str, object]:
    found: dict[str, Any] = json.loads(text)
    return found
