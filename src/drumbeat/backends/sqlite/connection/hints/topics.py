"""Topics of hints: what may have changed in the file, as bits that one datagram combines."""

from __future__ import annotations

from typing import Final

JOBS: Final = 1
TIMES: Final = 2
FINISHED: Final = 4
CANCELLATIONS: Final = 8
LEASES: Final = 16
REGISTRY: Final = 32
CONFIGURATION: Final = 64
EVERYTHING: Final = 127
"""Sent by a poll, which sees that something has changed and not what."""
