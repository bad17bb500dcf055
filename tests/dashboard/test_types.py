"""The types of the dashboard are those of the API."""

from __future__ import annotations

from scripts.dashboard_types import TYPES, types


def test_the_types_of_the_dashboard_are_those_of_the_document() -> None:
    assert TYPES.read_text(encoding="utf-8") == types(), "run `python scripts/dashboard_types.py`"
