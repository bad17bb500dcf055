"""How many examples property tests look at: few in every run, many when somebody asks for depth.

`HYPOTHESIS_PROFILE=deep pytest tests/backends/...` looks at fifty times as many.
"""

from __future__ import annotations

import os

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
TIMES = 50
PATIENCE = 6 * 3600 if DEEP else 400
"""Seconds that such a test may take."""


def examples(usual: int) -> int:
    """So many, or many more."""
    return usual * TIMES if DEEP else usual
