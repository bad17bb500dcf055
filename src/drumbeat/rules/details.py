"""Details of an audit note: a JSON object, however a store keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from drumbeat.model.errors import InvalidInput


def written(details: Mapping[str, object]) -> str:
    """The details as JSON, in ASCII; what JSON cannot carry is an `InvalidInput`."""
    try:
        return json.dumps(dict(details), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"details of an audit note must be JSON: {error}") from None


def read(text: str) -> dict[str, object]:
    """The details that were written."""
    found: dict[str, Any] = json.loads(text)
    return found
